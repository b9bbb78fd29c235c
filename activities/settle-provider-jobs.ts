import pTimeout from 'p-timeout';
import { estimateCost } from '../src/domain/catalogue/cost.ts';
import type { CancelOutcome, Job, JobStatus, JsonObject, PolledProvider } from '../src/providers/contract.ts';
import {
  listProviderJobs,
  listUnsettledJobs,
  type ProviderJob,
  recordProviderJob,
  recordUpstreamEnd,
  settleProviderJob,
  type UnsettledJob,
} from '../src/stores/provider-jobs.ts';
import { findTask } from '../src/stores/tasks.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow } from './for-each-row.ts';
import { findLostJob } from './generation/recover.ts';
import { jobKeyOf } from './generation/reserve.ts';

/** The generation that is being cancelled gets this long to stop its job by itself. */
const stopGraceMs = 30_000;
const answerLimitMs = 15_000;

/**
 * Jobs of tasks that have ended, which may still run upstream, and cost money there: after a termination, a worker that died with a
 * cancelled task, a deadline. Each is checked and stopped; one that succeeded too late is counted, not delivered.
 */
export async function settleProviderJobs(deps: ActivityDeps): Promise<{ stopped: number; late: number }> {
  const settled = { stopped: 0, late: 0 };
  await forEachRow<UnsettledJob>(deps, {
    name: 'settle-provider-jobs',
    page: (page) => listUnsettledJobs(deps.db, { minAgeMs: stopGraceMs, ...page }),
    work: async (job) => {
      const end = await settleJob(deps, job);
      if (end === undefined) return;
      const { outcome } = end;
      const ended = await settleProviderJob(deps.db, { ...job, ...end });
      if (ended !== undefined) deps.events.emit({ kind: 'job_ended', job: ended });
      deps.events.emit({ kind: 'reconcile_finding', finding: 'provider_job_left' });
      settled[outcome === 'abandoned' ? 'stopped' : 'late'] += 1;
    },
  });
  return settled;
}

type Settled = Pick<Parameters<typeof settleProviderJob>[1], 'outcome' | 'cost'>;

/** Undefined for a job that is looked at again: one that goes on although it was to stop, which takes its place for a day at most. */
async function settleJob(deps: ActivityDeps, unsettled: UnsettledJob): Promise<Settled | undefined> {
  const { taskId, ordinal, isOld } = unsettled;
  // Also stops a generation that still runs: its worker sees the cancellation with its next heartbeat.
  await deps.engine.cancelTask(taskId);
  const calls = (await listProviderJobs(deps.db, taskId)).filter(({ isIntended }) => isIntended);
  const row = calls.find((call) => call.ordinal === ordinal);
  const task = await findTask(deps.db, taskId);
  const open = row && deps.providers.ofJob(row);
  if (row === undefined || task === undefined) return lost(deps, unsettled);
  // The catalogue may name the provider again soon, as after a mistake in its file.
  if (open === undefined) return isOld ? lost(deps, unsettled) : undefined;
  const { provider } = open;
  // Nothing is asked of it now; its place stays taken.
  if (await deps.switches.isOff(row.provider)) return undefined;
  // The job ended with its call.
  if (provider.runs !== 'upstream') return { outcome: 'abandoned' };
  const jobKey = jobKeyOf(
    taskId,
    row.provider,
    calls.filter((call) => call.ordinal < ordinal),
  );
  const { accountId, param } = task;
  const found = await findJob(
    deps,
    { provider, imageReference: open.imageReference },
    { taskId, accountId, jobKey, row, ...param, input: row.sentInput ?? param.input, deadlineMs: 0 },
  );
  if (found === 'not_created') return { outcome: 'abandoned', cost: 'free' };
  if (found === 'unknown') return lost(deps, unsettled);
  const job = { ...found, jobKey, input: param.input };
  const status = await statusOf(provider, job);
  if (status.state === 'succeeded') {
    const gpuMs = row.submittedAt === undefined ? 0 : Date.now() - row.submittedAt;
    const rule = open.terms.cost;
    const cost = status.cost ?? (rule && estimateCost(rule, { input: param.input, gpuMs })) ?? 'unknown';
    await recordUpstreamEnd(deps.db, { taskId, ordinal, cost });
    deps.log.warn({ taskId, provider: row.provider, jobId: job.id }, 'video finished after the refund; not delivered');
    return { outcome: 'late_success' };
  }
  if (status.state === 'failed')
    return { outcome: 'abandoned', cost: open.terms.failedJobs === 'free' ? 'free' : undefined };
  if (status.state === 'missing') return { outcome: 'abandoned', cost: 'unknown' };
  const outcome: CancelOutcome = await inTime((signal) => provider.cancel(job, signal));
  if (outcome === 'cancelled' || outcome === 'ended' || isOld) return { outcome: 'abandoned', cost: 'unknown' };
  return undefined;
}

function lost(deps: ActivityDeps, { taskId, ordinal, provider }: UnsettledJob): Settled {
  deps.log.error(
    { taskId, ordinal, provider },
    'provider job of a failed task not found; it may run, and cost, upstream',
  );
  return { outcome: 'abandoned', cost: 'unknown' };
}

type Found = Pick<Job, 'id' | 'handle'>;

/** The task may have ended while the answer to its create was still on its way, or was lost: then the provider is asked for the job. */
async function findJob(
  deps: ActivityDeps,
  asked: Parameters<typeof findLostJob>[1],
  wanted: Parameters<typeof findLostJob>[2] & { readonly row: ProviderJob },
): Promise<Found | 'not_created' | 'unknown'> {
  const { taskId, row } = wanted;
  // Written as the provider gave it, which is plain JSON.
  if (row.jobId !== undefined) return { id: row.jobId, handle: (row.handle ?? {}) as JsonObject };
  const found = await findLostJob(deps, asked, wanted, AbortSignal.timeout(answerLimitMs));
  if (found.kind === 'later') throw new Error('the provider does not say yet whether there is a job');
  if (found.kind !== 'found') return found.kind;
  const { id, handle } = found;
  await recordProviderJob(deps.db, { taskId, ordinal: row.ordinal, jobId: id, handle });
  return { id, handle: handle ?? {} };
}

async function statusOf(provider: PolledProvider, job: Job): Promise<JobStatus> {
  const statuses = await inTime((signal) => provider.status([job], signal));
  const status = statuses.get(job.jobKey);
  if (status === undefined || status.state === 'unclear')
    throw new Error('the provider does not tell the state of a job');
  return status;
}

/** Rejects when there is no answer in time; the next run asks again. */
async function inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const limit = { milliseconds: answerLimitMs, message: 'the provider did not answer in time' };
  return await pTimeout(ask(stop.signal), limit).finally(() => stop.abort());
}
