import type { JsonObject } from '../../src/providers/contract.ts';
import { DatabaseUnavailable } from '../../src/stores/database.ts';
import { TaskFault } from '../../src/domain/errors.ts';
import { intendProviderJob, type ProviderJob } from '../../src/stores/provider-jobs.ts';
import { type Attempt, type Call, type CallEnd, deadlinePassed, type NewCall, unclear } from './attempt.ts';
import { followJob, providerOfJob } from './follow-job.ts';
import { recoverJob } from './lost-call.ts';
import { jobKeyOf, type Opened } from './open-job.ts';
import { runJob } from './run-job.ts';
import { checkImages, intend, requestFor, submitJob } from './submit-job.ts';

/** Makes a call for a job, or goes on with one, to its video; undefined when another call may be made. */
export async function workOn(attempt: Attempt, opened: Opened): Promise<CallEnd> {
  if (opened.kind === 'new') return await begin(attempt, opened.call, resubmissionsIn(opened.calls));
  return await resume(attempt, opened.job, opened.calls);
}

async function begin(attempt: Attempt, call: NewCall, resubmissions: number): Promise<CallEnd> {
  const { provider } = call.open;
  await untilDeadline(attempt, () => checkImages(attempt, call));
  if (provider.runs !== 'upstream') {
    await (call.pool === undefined ? intendHere(attempt, call) : intend(attempt, call));
    return await runJob(attempt, call, provider, requestFor(attempt, call));
  }
  const job = await untilDeadline(attempt, () => submitJob(attempt, call, provider));
  // A lost one is found among the task's rows.
  if (job === undefined) return undefined;
  return await followJob(attempt, { ...call, resubmissions, job: jobOf(attempt, call, job) }, provider);
}

async function intendHere({ deps }: Attempt, { taskId, ordinal, jobKey, open }: Call): Promise<void> {
  const job = { taskId, ordinal, provider: open.provider.name, jobId: jobKey };
  if (!(await intendProviderJob(deps.db, job))) throw unclear('another attempt is asking a provider');
}

async function resume(attempt: Attempt, row: ProviderJob, calls: readonly ProviderJob[]): Promise<CallEnd> {
  const open = await providerOfJob(attempt, row);
  const { taskId } = attempt.task;
  const { ordinal, pool, submittedAt, upstreamEndedAt } = row;
  const earlier = calls.filter((call) => call.ordinal < ordinal);
  const jobKey = jobKeyOf(taskId, row.provider, earlier);
  const call = { taskId, ordinal, jobKey, open, resubmissions: resubmissionsIn(earlier) };
  const { provider } = open;
  if (provider.runs !== 'upstream')
    return await runJob(attempt, { ...call, pool }, provider, requestFor(attempt, call));
  const known = row.jobId === undefined ? undefined : { id: row.jobId, handle: row.handle };
  const job = known ?? (await untilDeadline(attempt, () => recoverJob(attempt, { ...call, row }, provider)));
  if (job === undefined) return undefined;
  // The attempt that recorded the job may have died before this.
  await attempt.markGenerating();
  const running = { ...call, submittedAt, upstreamEndedAt, job: jobOf(attempt, call, job) };
  return await followJob(attempt, running, provider);
}

/** Calls that ended with a lost job, after which another one was made. */
function resubmissionsIn(calls: readonly ProviderJob[]): number {
  return calls.filter(({ outcome }) => outcome === 'abandoned').length;
}

function jobOf({ task }: Attempt, { jobKey }: Call, { id, handle }: { id: string; handle?: unknown }) {
  // Written as the provider gave it, which is plain JSON.
  return { jobKey, id, handle: (handle ?? {}) as JsonObject, input: task.param.input };
}

/** After the deadline every error ends the task; but an unavailable database is waited for, to check the job once more. */
async function untilDeadline<T>({ signal }: Attempt, work: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    const isDecided = error instanceof DatabaseUnavailable || (error instanceof TaskFault && !error.retryable);
    throw signal.reason === deadlinePassed && !isDecided ? deadlinePassed : error;
  }
}
