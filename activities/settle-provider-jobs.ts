import pTimeout from 'p-timeout';
import type { Provider, RecoveredJob } from '../src/providers/provider.ts';
import {
  listUnsettledJobs,
  recordProviderJob,
  settleProviderJob,
  type UnsettledJob,
} from '../src/stores/provider-jobs.ts';
import { findTask } from '../src/stores/tasks.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow } from './for-each-row.ts';

/** The generation that is being cancelled gets this long to stop its job by itself. */
const stopGraceMs = 30_000;
const answerLimitMs = 15_000;
const budgetMs = 45_000;

/**
 * Jobs of failed tasks that may still run upstream, and cost money there: after a termination, a worker that died with a
 * cancelled task, a deadline. Each is checked once more and stopped; one that succeeded too late is counted, not delivered.
 */
export async function settleProviderJobs(deps: ActivityDeps): Promise<{ stopped: number; late: number }> {
  const settled = { stopped: 0, late: 0 };
  await forEachRow<UnsettledJob>({
    page: (after, limit) => listUnsettledJobs(deps.db, { minAgeMs: stopGraceMs, after, limit }),
    work: async (job) => {
      const outcome = await settleJob(deps, job);
      await settleProviderJob(deps.db, job, outcome);
      settled[outcome === 'abandoned' ? 'stopped' : 'late'] += 1;
    },
    onError: (error, job) => deps.log.warn({ err: error, ...job }, 'provider job not settled in this run'),
    budgetMs,
  });
  return settled;
}

async function settleJob(deps: ActivityDeps, job: UnsettledJob): Promise<'abandoned' | 'late_success'> {
  // Also stops a generation that still runs: its worker sees the cancellation with its next heartbeat.
  await deps.engine.cancelTask(job.taskId);
  const provider = deps.providers.get(job.provider);
  const found: RecoveredJob = provider === undefined ? { kind: 'unknown' } : await findJob(deps, provider, job);
  if (found.kind === 'not_created') return 'abandoned';
  if (found.kind !== 'found' || provider === undefined) {
    deps.log.error(job, 'provider job of a failed task not found; it may run, and cost, upstream');
    return 'abandoned';
  }
  if ((await inTime(provider.result(found.jobId))) !== undefined) {
    deps.log.warn({ ...job, ...found }, 'video finished after the refund; not delivered');
    return 'late_success';
  }
  await inTime(provider.cancel(found.jobId));
  return 'abandoned';
}

/** The task may have ended while the answer to its create was still on its way, or was lost: then the provider is asked for the job. */
async function findJob(deps: ActivityDeps, provider: Provider, job: UnsettledJob): Promise<RecoveredJob> {
  if (job.jobId !== undefined) return { kind: 'found', jobId: job.jobId };
  const task = await findTask(deps.db, job.taskId);
  if (task === undefined) return { kind: 'unknown' };
  const { model, input } = task.param;
  const request = { taskId: job.taskId, model, input };
  const found = await inTime(provider.recover(request, AbortSignal.timeout(answerLimitMs)));
  if (found.kind === 'found') await recordProviderJob(deps.db, { ...job, jobId: found.jobId });
  return found;
}

/** Rejects when there is no answer in time; the next run asks again. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return pTimeout(answer, { milliseconds: answerLimitMs, message: 'the provider did not answer in time' });
}
