import pTimeout from 'p-timeout';
import { estimateCost } from '../../src/domain/catalogue/cost.ts';
import type { TaskFailure } from '../../src/domain/task.ts';
import type { CancelOutcome, Cost, Fault, NotAccepted, Refused } from '../../src/providers/contract.ts';
import {
  endProviderJob,
  listProviderJobs,
  type ProviderJobEnd,
  recordUpstreamEnd,
  succeedProviderJob,
} from '../../src/stores/provider-jobs.ts';
import { type CooldownReason, recordPoolFailure } from '../../src/stores/provider-pools.ts';
import type { ActivityDeps } from '../deps.ts';
import { type Attempt, interrupted, isCancelled } from './attempt.ts';
import { failureFor, providerFailures } from './failures.ts';
import type { JobBase, JobIn, Outcome, Stop } from './job.ts';

// Each end of a job is committed with its reason, so that a retried attempt reaches the same end.

type JobEnd = Omit<ProviderJobEnd, 'taskId' | 'ordinal' | 'failure'>;

/** Records that the video of the task's job is staged. */
export async function settleSuccess({ db, events }: ActivityDeps, taskId: string): Promise<void> {
  const ended = await succeedProviderJob(db, taskId);
  if (ended !== undefined) events.emit({ kind: 'job_ended', job: ended });
}

/** Ends the job. The first end stays, and is counted; false when that is another one. */
export async function endJob(
  { db, events }: ActivityDeps,
  { taskId, ordinal }: Pick<JobBase, 'taskId' | 'ordinal'>,
  end: JobEnd & Pick<ProviderJobEnd, 'failure'>,
): Promise<boolean> {
  const ended = await endProviderJob(db, { taskId, ordinal, ...end });
  if (ended !== undefined) events.emit({ kind: 'job_ended', job: ended });
  return ended !== undefined;
}

/**
 * Ends the job and, with it, the task. Two attempts may be alive, and the later one may have seen what the earlier one did to the job:
 * what was committed first counts.
 */
export async function failTask(
  { deps }: Pick<Attempt, 'deps'>,
  job: Pick<JobBase, 'taskId' | 'ordinal'>,
  failure: TaskFailure,
  end: JobEnd,
): Promise<Stop> {
  if (await endJob(deps, job, { failure, ...end })) return { kind: 'task_failed', failure, detail: end.detail };
  const row = (await listProviderJobs(deps.db, job.taskId)).find(({ ordinal }) => ordinal === job.ordinal);
  if (row?.failure === undefined) return { kind: 'undecided', detail: 'another attempt has ended this job' };
  return { kind: 'task_failed', failure: row.failure };
}

/** The upstream has certainly made no job: another provider may get the task, unless the task itself was refused. */
export async function settleDeclined(
  attempt: Attempt,
  job: JobBase,
  declined: NotAccepted | Refused,
): Promise<Outcome> {
  const { deps, signal, task } = attempt;
  if (declined.kind === 'not_accepted') {
    const { detail, reason } = declined;
    deps.log.info({ ...logFields(job), reason, detail }, 'job not accepted');
    await endJob(deps, job, { outcome: 'not_created', detail, cost: 'free' });
    // A request that we canceled says nothing about the provider.
    if (signal.aborted) return interrupted(attempt);
    await coolDown(deps, job, declined);
    return { kind: 'next' };
  }
  const { fault } = declined;
  deps.log.info({ ...logFields(job), fault }, 'job refused');
  // Without images only the prompt can be refused for its content.
  const isPrompt = fault.kind === 'content' && task.param.input.imageUrls.length === 0;
  const failure = failureFor(isPrompt ? { ...fault, about: 'prompt' } : fault);
  const end = { detail: fault.detail, cost: 'free' } as const;
  if (failure !== undefined) return await failTask(attempt, job, failure, { outcome: 'fail', ...end });
  await endJob(deps, job, { outcome: 'refused', ...end });
  return { kind: 'next' };
}

/** Ends the task whose job has failed upstream, unless failures there are free and another provider may succeed. */
export async function settleFailure(
  attempt: Attempt,
  job: JobBase & Submitted,
  { fault, cost }: { readonly fault: Fault; readonly cost?: Cost },
): Promise<Outcome> {
  const { deps } = attempt;
  const { failedJobs } = job.open.terms;
  deps.log.info({ ...logFields(job), fault }, 'provider job failed');
  const isFree = failedJobs === 'free' && cost === undefined;
  if (!isFree) await settleCost(attempt, job, cost);
  const end = { outcome: 'fail', detail: fault.detail, cost: isFree ? 'free' : undefined } as const;
  const failure = failureFor(fault) ?? (failedJobs === 'billed' ? providerFailures.failed : undefined);
  if (failure !== undefined) return await failTask(attempt, job, failure, end);
  await endJob(deps, job, end);
  return { kind: 'next' };
}

/** Jobs that may be made again in a task, where the operator allows it. */
const maxResubmissions = 2;

/** Ends the task whose job is lost, unless the operator allows another job at this provider. */
export async function settleLost(
  attempt: Attempt,
  job: JobBase,
  { why, detail, isSettled = false }: { readonly why: string; readonly detail: string; readonly isSettled?: boolean },
): Promise<Outcome> {
  const { deps } = attempt;
  const { terms, provider } = job.open;
  const end = { outcome: 'abandoned', detail, cost: 'unknown' } as const;
  if (terms.onLostAnswer === 'fail' || job.resubmissions >= maxResubmissions) {
    deps.log.error({ ...logFields(job), detail }, why);
    return await failTask(attempt, job, providerFailures.unavailable, { ...end, isSettled });
  }
  deps.log.warn({ ...logFields(job), detail, why }, 'job resubmitted');
  deps.events.emit({ kind: 'provider_resubmission', provider: provider.name });
  // Its slot is released, or the next job would wait for it.
  await endJob(deps, job, { ...end, isSettled: true });
  return { kind: 'next' };
}

/** Only a cancelled task stops its job upstream; a worker that shuts down leaves it to the next attempt. */
export async function stopJob(attempt: Attempt, job: JobIn<'running' | 'succeeded'>): Promise<Stop> {
  if (!isCancelled(attempt)) return interrupted(attempt);
  const outcome = await inTime((signal) => job.provider.cancel(job.upstream, signal));
  // Without a response it is left to `reconcile`.
  if (outcome !== undefined) await failTask(attempt, job, providerFailures.cancelled, endAfter(outcome));
  return { kind: 'cancelled' };
}

export function endAfter(outcome: CancelOutcome | undefined) {
  const isSettled = outcome === 'cancelled' || outcome === 'ended';
  return { outcome: 'abandoned', cost: 'unknown', isSettled } as const;
}

/** Limits each of the last requests about a job. */
const requestLimitMs = 15_000;

/** Undefined when the request fails or takes too long: the task ends without its response, too. */
export async function inTime<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const stop = new AbortController();
  const nothing = () => undefined;
  const response = await pTimeout(send(stop.signal).catch(nothing), {
    milliseconds: requestLimitMs,
    fallback: nothing,
  });
  stop.abort();
  return response;
}

type Submitted = { readonly submittedAt?: number | undefined };

/** Releases the slot. What the upstream reports replaces the estimate. */
export async function settleCost(
  { deps, task }: Attempt,
  job: Pick<JobBase, 'taskId' | 'ordinal' | 'open'> & Submitted,
  reported: Cost | undefined,
): Promise<void> {
  const { taskId, ordinal, open } = job;
  const rule = open.terms.cost;
  const estimated = rule && estimateCost(rule, { input: task.param.input, gpuMs: ageOf(job) });
  await recordUpstreamEnd(deps.db, { taskId, ordinal, cost: reported ?? estimated });
}

export function ageOf({ submittedAt }: Submitted): number {
  return submittedAt === undefined ? 0 : Math.max(0, Date.now() - submittedAt);
}

const [passing, operators] = [
  { baseMs: 5_000, maxMs: 300_000 },
  { baseMs: 3_600_000, maxMs: 86_400_000 },
];

/** A pool that fails takes no task for a while. Rejected credentials and quotas count for all models of the provider. */
export async function coolDown(
  { db, log }: ActivityDeps,
  { pool, open }: Pick<JobBase, 'pool' | 'open'>,
  { reason, retryAfterMs }: { readonly reason: CooldownReason; readonly retryAfterMs?: number },
): Promise<void> {
  if (pool === undefined) return;
  const provider = open.provider.name;
  const isOfProvider = reason === 'operator';
  if (isOfProvider) log.error({ provider, pool }, 'provider credentials or quota rejected');
  const asked = retryAfterMs === undefined ? undefined : { baseMs: retryAfterMs, maxMs: retryAfterMs };
  await recordPoolFailure(db, {
    pool,
    provider,
    reason,
    isOfProvider,
    ...(asked ?? (isOfProvider ? operators : passing)),
  });
}

export function logFields({ taskId, ordinal, open }: JobBase) {
  return { taskId, ordinal, provider: open.provider.name };
}
