import type { Logger } from 'pino';
import type { TaskEventSink } from '../task-metric-events.ts';
import { estimateCost } from '../../catalogue/prices/upstream-cost.ts';
import type { Database } from '../../platform/database/database.ts';
import type { CancelOutcome, Cost, FrozenJobTerms, UpstreamErrorReason } from '../../providers/provider-contract.ts';
import type { Task, TaskFailure } from '../../catalogue/tasks/task.ts';
import type { JobBase, TryNextJob, AttemptEndWithoutVideo } from './job-of-attempt-types.ts';
import { endProviderJob, type JobEnd, freeSlotAndRecordCost } from './job-ends.ts';
import { taskFailureFor, providerFailures } from './task-failures-of-jobs.ts';
import { type JobRowKey, listProviderJobs } from './provider-jobs.ts';
import { type CooldownReason, startCooldown } from './provider-pools-and-switches.ts';

// The end of a job decides whether its task ends, too, or makes another job. Each end is committed with its reason, so that a retried
// attempt reaches the same end.

type EndDeps = { readonly db: Database; readonly log: Logger; readonly events: TaskEventSink };
/** The attempt that follows the job. */
type Following = { readonly deps: EndDeps; readonly task: Pick<Task, 'taskId' | 'param'> };
type SubmittedJob = Pick<JobBase, keyof JobRowKey | 'open'> & {
  /** Unix milliseconds; now by default. */
  readonly submittedAt?: number | undefined;
};

/** Ends the job and counts it. Returns false if it has ended before; the first end stays. */
export async function endAndCountJob(
  { db, events }: Pick<EndDeps, 'db' | 'events'>,
  { taskId, ordinal }: JobRowKey,
  end: JobEnd & { readonly failure?: TaskFailure },
): Promise<boolean> {
  const ended = await endProviderJob(db, { taskId, ordinal, ...end });
  if (ended !== undefined) events.emit({ kind: 'job_ended', job: ended });
  return ended !== undefined;
}

/**
 * Ends the job, and records with it the failure of its task, which the workflow refunds later. Two attempts may be alive, and the later
 * one may have read what the earlier one did to the job: what was committed first counts.
 */
export async function endJobAndRecordTaskFailure(
  { deps }: { readonly deps: Pick<EndDeps, 'db' | 'events'> },
  job: JobRowKey,
  failure: TaskFailure,
  end: JobEnd,
): Promise<AttemptEndWithoutVideo> {
  if (await endAndCountJob(deps, job, { failure, ...end })) return { kind: 'task_failed', failure, detail: end.detail };
  const row = (await listProviderJobs(deps.db, job.taskId)).find(({ ordinal }) => ordinal === job.ordinal);
  if (row?.failure === undefined) return { kind: 'undecided', detail: 'another attempt has ended this job' };
  return { kind: 'task_failed', failure: row.failure };
}

/**
 * Ends the task whose job has failed upstream, unless the job was free and another provider may succeed, or the operator allows
 * one more job after a refusal of the finished video.
 */
export async function endFailedJob(
  attempt: Following,
  job: JobBase & SubmittedJob,
  { error, cost }: { readonly error: UpstreamErrorReason; readonly cost?: Cost },
): Promise<TryNextJob | AttemptEndWithoutVideo> {
  const { deps, task } = attempt;
  const { failedJobs } = job.open.terms;
  deps.log.info({ ...jobLogFields(job), error }, 'provider job failed');
  const isFree = failedJobs === 'free' && (cost === undefined || cost.micros === 0);
  const hasCost = cost !== undefined || !isFree;
  if (hasCost) await recordUpstreamEndAndCost(attempt, job, cost);
  // Some upstreams report the reason only by its code.
  const detail = [error.code, error.detail].filter(Boolean).join(': ');
  const end = { outcome: 'fail', detail, cost: hasCost ? undefined : 'free' } as const;
  if (isFree && (await mayRepeatRefused(deps.db, task.taskId, job.open.terms, error))) {
    deps.log.info(jobLogFields(job), 'job repeated after its output was refused');
    await endAndCountJob(deps, job, { ...end, isRepeatable: true });
    return { kind: 'next' };
  }
  const rejection = taskFailureFor(error, task.param.input);
  const failure = rejection ?? (isFree ? undefined : providerFailures.failed);
  if (failure !== undefined) return await endJobAndRecordTaskFailure(attempt, job, failure, end);
  await endAndCountJob(deps, job, end);
  return { kind: 'next' };
}

/** True once in a task: another sample of a model often passes where the first one was refused. */
async function mayRepeatRefused(
  db: Database,
  taskId: string,
  { onRefusedOutput }: Pick<FrozenJobTerms, 'onRefusedOutput'>,
  { kind, about }: UpstreamErrorReason,
): Promise<boolean> {
  const isOutput = about === 'output' || about === 'sound';
  if (kind !== 'content' || !isOutput || onRefusedOutput !== 'resubmit') return false;
  return !(await listProviderJobs(db, taskId)).some(({ isRepeatable }) => isRepeatable);
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
  attempt: Following,
  job: JobBase,
  { why, detail, isSettled = false, hasCost = false }: Loss,
): Promise<TryNextJob | AttemptEndWithoutVideo> {
  const { deps } = attempt;
  const { terms, provider } = job.open;
  const end = { outcome: 'abandoned', detail, cost: hasCost ? undefined : 'unknown' } as const;
  if (terms.onLostJob === 'fail' || job.resubmissions >= maxResubmissions) {
    deps.log.error({ ...jobLogFields(job), detail }, why);
    return await endJobAndRecordTaskFailure(attempt, job, providerFailures.unavailable, { ...end, isSettled });
  }
  deps.log.warn({ ...jobLogFields(job), detail, why }, 'job resubmitted');
  // Its slot is released, or the next job would wait for it.
  const isEnded = await endAndCountJob(deps, job, { ...end, isSettled: true });
  if (isEnded) deps.events.emit({ kind: 'provider_resubmission', provider: provider.name });
  return { kind: 'next' };
}

/** `hasCost`: the cost of the job was recorded when it ended. */
export function jobEndAfterCancel(outcome: CancelOutcome | undefined, { hasCost }: { readonly hasCost: boolean }) {
  const isSettled = outcome === 'cancelled' || outcome === 'ended';
  return { outcome: 'abandoned', cost: hasCost ? undefined : 'unknown', isSettled } as const;
}

/** Records the end of the job upstream and its cost, which releases the slot. A cost that the upstream reports replaces the estimate. */
export async function recordUpstreamEndAndCost(
  { deps, task }: { readonly deps: Pick<EndDeps, 'db'>; readonly task: Pick<Task, 'param'> },
  { taskId, ordinal, open, submittedAt = Date.now() }: SubmittedJob,
  reported: Cost | undefined,
): Promise<void> {
  const rule = open.terms.cost;
  const gpuMs = Math.max(0, Date.now() - submittedAt);
  const estimated = rule && estimateCost(rule, { input: task.param.input, gpuMs });
  await freeSlotAndRecordCost(deps.db, { taskId, ordinal, cost: reported ?? estimated });
}

const temporaryCooldown = { baseMs: 5_000, maxMs: 300_000 };
/** Rejected credentials and quotas need the operator. */
const operatorCooldown = { baseMs: 3_600_000, maxMs: 86_400_000 };

/**
 * Stops new jobs of a failing pool for a while. Rejected credentials and quotas affect all models of the provider. An upstream's
 * `Retry-After`, of an hour at most (classify-upstream-answers.ts), replaces a shorter base, which doubles with each failure: from five seconds up to five
 * minutes, or from an hour up to a day for credentials and quotas. A `Retry-After` beyond five minutes is the cooldown itself. During a cooldown it changes nothing.
 */
export async function coolDown(
  { db, log }: Pick<EndDeps, 'db' | 'log'>,
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
  await startCooldown(db, { pool, provider, reason, isOfProvider, baseMs, maxMs });
}

export function jobLogFields({ taskId, ordinal, open }: JobBase) {
  return { taskId, ordinal, provider: open.provider.name };
}
