import pTimeout from 'p-timeout';
import { estimateCost } from '../../src/models/catalogue/cost.ts';
import type { Task, TaskFailure } from '../../src/tasks/task.ts';
import { mediaUrlsOf } from '../../src/tasks/task-input.ts';
import type { CancelOutcome, Cost, UpstreamError, NotAccepted, Refused } from '../../src/providers/contract.ts';
import { listProviderJobs } from '../../src/providers/provider-jobs.ts';
import { endProviderJob, type ProviderJobEnd, recordUpstreamEnd } from '../../src/providers/job-ends.ts';
import { type CooldownReason, recordPoolFailure } from '../../src/providers/provider-pools.ts';
import { type Attempt, type GenerationDeps, interrupted, isCancelled } from './attempt.ts';
import { failureFor, providerFailures } from './failures.ts';
import type { JobBase, JobIn, Outcome, Stop } from './job.ts';

// Each end of a job is committed with its reason, so that a retried attempt reaches the same end.

type JobEnd = Omit<ProviderJobEnd, 'taskId' | 'ordinal' | 'failure'>;
type JobRow = Pick<JobBase, 'taskId' | 'ordinal'>;
type SubmittedJob = Pick<JobBase, 'taskId' | 'ordinal' | 'open'> & {
  /** Unix milliseconds; now by default. */
  readonly submittedAt?: number | undefined;
};

/** Ends the job and counts it. Returns false if it has ended before; the first end stays. */
export async function endJob(
  { db, events }: Pick<GenerationDeps, 'db' | 'events'>,
  { taskId, ordinal }: JobRow,
  end: JobEnd & Pick<ProviderJobEnd, 'failure'>,
): Promise<boolean> {
  const ended = await endProviderJob(db, { taskId, ordinal, ...end });
  if (ended !== undefined) events.emit({ kind: 'job_ended', job: ended });
  return ended !== undefined;
}

/**
 * Ends the job with the failure of its task, which the workflow then refunds. Two attempts may be alive, and the later one may have read
 * what the earlier one did to the job: what was committed first counts.
 */
export async function endJobAndTask(
  { deps }: { readonly deps: Pick<GenerationDeps, 'db' | 'events'> },
  job: JobRow,
  failure: TaskFailure,
  end: JobEnd,
): Promise<Stop> {
  if (await endJob(deps, job, { failure, ...end })) return { kind: 'task_failed', failure, detail: end.detail };
  const row = (await listProviderJobs(deps.db, job.taskId)).find(({ ordinal }) => ordinal === job.ordinal);
  if (row?.failure === undefined) return { kind: 'undecided', detail: 'another attempt has ended this job' };
  return { kind: 'task_failed', failure: row.failure };
}

/** The upstream has certainly made no job: another provider may get the task, unless the task itself was refused. */
export async function endDeclinedJob(
  attempt: Attempt,
  job: JobBase,
  declined: NotAccepted | Refused,
): Promise<Outcome> {
  const { deps, signal, task } = attempt;
  if (declined.kind === 'not_accepted') {
    const { detail, reason } = declined;
    deps.log.info({ ...logFields(job), reason, detail }, 'job not accepted');
    await endJob(deps, job, { outcome: 'not_created', detail, cost: 'free' });
    // A request that we canceled proves nothing about the provider.
    if (signal.aborted) return interrupted(attempt);
    await coolDown(deps, job, declined);
    return { kind: 'next' };
  }
  const { error } = declined;
  deps.log.info({ ...logFields(job), error }, 'job refused');
  const { input } = task.param;
  // Only the prompt can be refused for its content if the request has no media.
  const isPrompt = error.kind === 'content' && mediaUrlsOf(input).length === 0;
  const failure = failureFor(isPrompt ? { ...error, about: 'prompt' } : error, input);
  const end = { detail: error.detail, cost: 'free' } as const;
  if (failure !== undefined) return await endJobAndTask(attempt, job, failure, { outcome: 'fail', ...end });
  await endJob(deps, job, { outcome: 'refused', ...end });
  return { kind: 'next' };
}

/**
 * Ends the task whose job has failed upstream, unless the job was free and another provider may succeed, or the operator allows
 * one more job after a refusal of the finished video.
 */
export async function endFailedJob(
  attempt: Attempt,
  job: JobBase & SubmittedJob,
  { error, cost }: { readonly error: UpstreamError; readonly cost?: Cost },
): Promise<Outcome> {
  const { deps, task } = attempt;
  const { failedJobs } = job.open.terms;
  deps.log.info({ ...logFields(job), error }, 'provider job failed');
  const isFree = failedJobs === 'free' && (cost === undefined || cost.micros === 0);
  const hasCost = cost !== undefined || !isFree;
  if (hasCost) await recordCost(attempt, job, cost);
  // Some upstreams report the reason only by its code.
  const detail = [error.code, error.detail].filter(Boolean).join(': ');
  const end = { outcome: 'fail', detail, cost: hasCost ? undefined : 'free' } as const;
  if (isFree && (await mayRepeat(attempt, job, error))) {
    deps.log.info(logFields(job), 'job repeated after its output was refused');
    await endJob(deps, job, { ...end, isRepeatable: true });
    return { kind: 'next' };
  }
  const rejection = failureFor(error, task.param.input);
  const failure = rejection ?? (isFree ? undefined : providerFailures.failed);
  if (failure !== undefined) return await endJobAndTask(attempt, job, failure, end);
  await endJob(deps, job, end);
  return { kind: 'next' };
}

/** True once in a task: another sample of a model often passes where the first one was refused. */
async function mayRepeat(
  { deps, task }: Attempt,
  { open }: Pick<JobBase, 'open'>,
  { kind, about }: UpstreamError,
): Promise<boolean> {
  if (kind !== 'content' || !isOutput(about) || open.terms.onRefusedOutput !== 'resubmit') return false;
  return !(await listProviderJobs(deps.db, task.taskId)).some(({ isRepeatable }) => isRepeatable);
}

function isOutput(about: UpstreamError['about']): boolean {
  return about === 'output' || about === 'sound';
}

/** Jobs that may be made again in a task, where the operator allows it. */
const maxResubmissions = 2;

type Loss = {
  readonly why: string;
  readonly detail: string;
  /** True if nothing is left to be stopped upstream. */
  readonly isSettled?: boolean;
  /** True if the cost of the job is recorded, because it ended before it was lost. */
  readonly hasCost?: boolean;
};

/** Ends the task whose job is lost, unless the operator allows another job at this provider. */
export async function endLostJob(
  attempt: Attempt,
  job: JobBase,
  { why, detail, isSettled = false, hasCost = false }: Loss,
): Promise<Exclude<Outcome, { kind: 'video' }>> {
  const { deps } = attempt;
  const { terms, provider } = job.open;
  const end = { outcome: 'abandoned', detail, cost: hasCost ? undefined : 'unknown' } as const;
  if (terms.onLostJob === 'fail' || job.resubmissions >= maxResubmissions) {
    deps.log.error({ ...logFields(job), detail }, why);
    return await endJobAndTask(attempt, job, providerFailures.unavailable, { ...end, isSettled });
  }
  deps.log.warn({ ...logFields(job), detail, why }, 'job resubmitted');
  deps.events.emit({ kind: 'provider_resubmission', provider: provider.name });
  // Its slot is released, or the next job would wait for it.
  await endJob(deps, job, { ...end, isSettled: true });
  return { kind: 'next' };
}

/** Stops the job of a cancelled task. A worker that shuts down leaves its job to the next attempt. */
export async function stopJob(attempt: Attempt, job: JobIn<'running' | 'succeeded'>): Promise<Stop> {
  if (!isCancelled(attempt)) return interrupted(attempt);
  const outcome = await withinLimit((signal) => job.provider.cancel(job.upstream, signal)).catch(() => undefined);
  // `reconcile` stops the job if the provider does not respond.
  const hasCost = job.state === 'succeeded' || job.upstreamEndedAt !== undefined;
  if (outcome !== undefined)
    await endJobAndTask(attempt, job, providerFailures.cancelled, endAfter(outcome, { hasCost }));
  return { kind: 'cancelled' };
}

/** `hasCost`: the cost of the job was recorded when it ended. */
export function endAfter(outcome: CancelOutcome | undefined, { hasCost }: { readonly hasCost: boolean }) {
  const isSettled = outcome === 'cancelled' || outcome === 'ended';
  return { outcome: 'abandoned', cost: hasCost ? undefined : 'unknown', isSettled } as const;
}

export const requestLimitMs = 15_000;

/** Sends one of the last requests about a job, which ends with an error after 15 seconds. */
export async function withinLimit<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const limit = {
    milliseconds: requestLimitMs,
    message: `no response from the provider in ${requestLimitMs / 1000} s`,
  };
  return await pTimeout(send(stop.signal), limit).finally(() => stop.abort());
}

/**
 * Records the end of the job upstream and its cost, which releases the slot. A
 * cost that the upstream reports replaces the estimate.
 */
export async function recordCost(
  { deps, task }: { readonly deps: Pick<GenerationDeps, 'db'>; readonly task: Pick<Task, 'param'> },
  { taskId, ordinal, open, submittedAt = Date.now() }: SubmittedJob,
  reported: Cost | undefined,
): Promise<void> {
  const rule = open.terms.cost;
  const gpuMs = Math.max(0, Date.now() - submittedAt);
  const estimated = rule && estimateCost(rule, { input: task.param.input, gpuMs });
  await recordUpstreamEnd(deps.db, { taskId, ordinal, cost: reported ?? estimated });
}

const temporaryCooldown = { baseMs: 5_000, maxMs: 300_000 };
/** Rejected credentials and quotas need the operator. */
const operatorCooldown = { baseMs: 3_600_000, maxMs: 86_400_000 };

/**
 * Stops new jobs of a failing pool for a while. Rejected credentials and quotas affect all models of the provider. The upstream may
 * request a longer pause, but no shorter one, which would repeat the create immediately.
 */
export async function coolDown(
  { db, log }: Pick<GenerationDeps, 'db' | 'log'>,
  { pool, open }: Pick<JobBase, 'pool' | 'open'>,
  { reason, retryAfterMs = 0 }: { readonly reason: CooldownReason; readonly retryAfterMs?: number },
): Promise<void> {
  if (pool === undefined) return;
  const provider = open.provider.name;
  const isOfProvider = reason === 'operator';
  if (isOfProvider) log.error({ provider, pool }, 'provider credentials or quota rejected');
  const cooldown = isOfProvider ? operatorCooldown : temporaryCooldown;
  const baseMs = Math.max(cooldown.baseMs, retryAfterMs);
  const maxMs = Math.max(cooldown.maxMs, retryAfterMs);
  await recordPoolFailure(db, { pool, provider, reason, isOfProvider, baseMs, maxMs });
}

export function logFields({ taskId, ordinal, open }: JobBase) {
  return { taskId, ordinal, provider: open.provider.name };
}
