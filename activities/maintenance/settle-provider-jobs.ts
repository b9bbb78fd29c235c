import type { JsonObject } from '../../src/platform/text/json.ts';
import type { WorkflowEngine } from '../../src/catalogue/tasks/workflow-engine.ts';
import type { Task } from '../../src/catalogue/tasks/task.ts';
import type { Job, JobStatus, PolledProvider } from '../../src/providers/provider-contract.ts';
import type { ProviderWithTermsAndPoller } from '../../src/providers/open-providers.ts';
import { listProviderJobs, type ProviderJob } from '../../src/tasks/jobs/provider-jobs.ts';
import { recordCreatedJob } from '../../src/tasks/jobs/job-creates.ts';
import { listLeftoverJobs, recordLeftoverJobEnd, type LeftoverJob } from '../../src/tasks/jobs/job-ends.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { DatabaseUnavailableError } from '../../src/platform/database/database.ts';
import type { ProviderSwitches } from '../watch-provider-switches.ts';
import { processRowsFromStoredCursor } from './process-rows-from-cursor.ts';
import type { GenerationDeps } from '../generation/attempt-at-generation.ts';
import { lookUpLostCreate } from '../generation/resume-or-look-up-job.ts';
import { jobNameAtProvider } from '../../src/tasks/jobs/next-job.ts';
import { recordUpstreamEndAndCost } from '../../src/tasks/jobs/end-job-and-decide-next.ts';
import { finalRequestLimitMs, withFinalRequestLimit } from '../generation/end-declined-or-stop-cancelled-job.ts';

export type SettleProviderJobsDeps = Pick<GenerationDeps, 'db' | 'log' | 'events' | 'providers' | 'hashAccount'> & {
  readonly engine: Pick<WorkflowEngine, 'cancelWorkflow'>;
  readonly switches: Pick<ProviderSwitches, 'isOff'>;
};

/** A page whose rows all wait for a provider that hangs takes a minute; the activity may take 90 s (workflows/reconcile.ts). */
const pageSize = 64;
/** A generation that is being cancelled stops its own job within this time. */
export const stopGraceMs = 30_000;

/**
 * Settles jobs of tasks that have ended, which may still run upstream, and cost money there: after a termination, a worker that died
 * with a cancelled task, a deadline. Each is checked and stopped; one that succeeded too late is counted, not delivered.
 */
export function createSettleJobsActivity(deps: SettleProviderJobsDeps) {
  return async (): Promise<{ stopped: number; late: number }> => {
    const settled = { stopped: 0, late: 0 };
    await processRowsFromStoredCursor<LeftoverJob>(deps, {
      name: 'settle-provider-jobs',
      limit: pageSize,
      page: (page) => listLeftoverJobs(deps.db, { minAgeMs: stopGraceMs, ...page }),
      work: async (job) => {
        const end = await settleJob(deps, job);
        if (end === undefined) return;
        const ended = await recordLeftoverJobEnd(deps.db, { ...job, ...end });
        if (ended !== undefined) deps.events.emit({ kind: 'job_ended', job: ended });
        deps.events.emit({ kind: 'reconcile_finding', finding: 'provider_job_left' });
        settled[end.outcome === 'abandoned' ? 'stopped' : 'late'] += 1;
      },
    });
    return settled;
  };
}

type Settled = Pick<Parameters<typeof recordLeftoverJobEnd>[1], 'outcome' | 'cost'>;

/**
 * Returns undefined for a job that is checked again: one that has not stopped keeps its slot for a day at most, or for as long as its
 * provider is switched off.
 */
async function settleJob(deps: SettleProviderJobsDeps, leftover: LeftoverJob): Promise<Settled | undefined> {
  const { taskId, ordinal, isOld } = leftover;
  // Also stops a generation that still runs: its worker receives the cancellation with its next heartbeat.
  await deps.engine.cancelWorkflow(taskId);
  const jobs = (await listProviderJobs(deps.db, taskId)).filter(({ isIntended }) => isIntended);
  const row = jobs.find((job) => job.ordinal === ordinal);
  const task = await findTask(deps.db, taskId);
  if (row === undefined || task === undefined) return abandoned(deps, leftover);
  const open = deps.providers.ofJob(row);
  // The catalogue may soon name the provider again, as after a mistake in its file.
  if (open === undefined) return isOld ? abandoned(deps, leftover) : undefined;
  if (await deps.switches.isOff(row.provider)) return undefined;
  const { provider } = open;
  // The job ended with its request.
  if (provider.runs !== 'upstream') return { outcome: 'abandoned' };
  const earlier = jobs.filter((job) => job.ordinal < ordinal);
  const jobKey = jobNameAtProvider(taskId, row.provider, earlier);
  // A provider that has not reported the job for a day may never do so, as after a change of the key.
  const reported = <T>(request: Promise<T>) =>
    request.catch((error: unknown) => {
      if (!isOld || error instanceof DatabaseUnavailableError) throw error;
      return undefined;
    });
  const found = await reported(findJob(deps, { task, row, jobKey, provider, open }));
  if (found === 'not_created') return { outcome: 'abandoned', cost: 'free' };
  const status = found === undefined || found === 'unknown' ? undefined : await reported(statusOf(provider, found));
  if (found === undefined || found === 'unknown' || status === undefined) return abandoned(deps, leftover);
  // The time of a lost create is that of its intent.
  const submitted = { taskId, ordinal, open, submittedAt: row.submittedAt ?? row.intendedAt };
  switch (status.state) {
    case 'succeeded':
      await recordUpstreamEndAndCost({ deps, task }, submitted, status.cost);
      deps.log.warn(
        { taskId, provider: row.provider, jobId: row.jobId },
        'video finished after the refund; not delivered',
      );
      return { outcome: 'late_success' };
    case 'failed':
      if (status.cost !== undefined) {
        await recordUpstreamEndAndCost({ deps, task }, submitted, status.cost);
        return { outcome: 'abandoned' };
      }
      return { outcome: 'abandoned', cost: open.terms.failedJobs === 'free' ? 'free' : undefined };
    case 'missing':
      return { outcome: 'abandoned', cost: 'unknown' };
    case 'queued':
    case 'running':
      break;
  }
  const cancelled = await reported(withFinalRequestLimit((signal) => provider.cancel(found, signal)));
  const isStopped = cancelled === 'cancelled' || cancelled === 'ended';
  return isStopped || isOld ? { outcome: 'abandoned', cost: 'unknown' } : undefined;
}

function abandoned({ log }: Pick<SettleProviderJobsDeps, 'log'>, { taskId, ordinal, provider }: LeftoverJob): Settled {
  log.error(
    { taskId, ordinal, provider },
    'provider job that no task waits for not found; it may still run upstream and cost money',
  );
  return { outcome: 'abandoned', cost: 'unknown' };
}

type LeftJob = {
  readonly task: Task;
  readonly row: ProviderJob;
  readonly jobKey: string;
  readonly provider: PolledProvider;
  readonly open: ProviderWithTermsAndPoller;
};

/** The task may have ended before the response to its create arrived, or the response was lost. */
async function findJob(
  deps: SettleProviderJobsDeps,
  { task, row, jobKey, provider, open }: LeftJob,
): Promise<Job | 'not_created' | 'unknown'> {
  const { taskId, accountId, param } = task;
  const { input } = param;
  // Stored as the provider returned it, which is plain JSON.
  if (row.jobId !== undefined) return { jobKey, input, id: row.jobId, handle: (row.handle ?? {}) as JsonObject };
  const lost = { taskId, accountId, jobKey, row, ...param, input: row.sentInput ?? input, deadlineMs: 0 };
  const { imageReference } = open;
  const signal = AbortSignal.timeout(finalRequestLimitMs);
  const found = await lookUpLostCreate(deps, { provider, imageReference }, lost, signal);
  if (found.kind === 'later') throw new Error('the provider cannot yet report whether the job exists');
  if (found.kind !== 'found') return found.kind;
  const { id, handle } = found;
  await recordCreatedJob(deps.db, { taskId, ordinal: row.ordinal, jobId: id, handle });
  return { jobKey, input, id, handle: handle ?? {} };
}

async function statusOf(provider: PolledProvider, job: Job): Promise<Exclude<JobStatus, { state: 'unclear' }>> {
  const statuses = await withFinalRequestLimit((signal) => provider.status([job], signal));
  const status = statuses.get(job.jobKey);
  if (status === undefined || status.state === 'unclear')
    throw new Error('the provider does not report the state of the job');
  return status;
}
