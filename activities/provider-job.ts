import { CancelledFailure, Context } from '@temporalio/activity';
import pTimeout from 'p-timeout';
import { TaskFault } from '../src/domain/errors.ts';
import type { Task } from '../src/domain/task.ts';
import type { GeneratedVideo, GenerationRequest, Provider } from '../src/providers/provider.ts';
import { DatabaseUnavailable } from '../src/stores/database.ts';
import {
  callSettledAfterMs,
  endProviderJob,
  intendProviderJob,
  listProviderJobs,
  type ProviderJob,
  recordProviderJob,
} from '../src/stores/provider-jobs.ts';
import { touchGenerations } from '../src/stores/tasks.ts';
import type { ActivityDeps } from './deps.ts';

/** With this reason the signal of a generation aborts when the model's deadline passes. */
export const deadlinePassed = new TaskFault(
  'timeout',
  'The video was not finished within the time allowed for this model.',
);

type OpenJob = {
  readonly taskId: string;
  readonly ordinal: number;
  readonly provider: Provider;
  readonly jobId: string;
};

/** One attempt at a generation. `providers` are those that the catalogue named when the task was accepted. */
export type Attempt = {
  readonly task: Task & { readonly isFirst?: boolean; readonly providers?: readonly string[] | undefined };
  readonly request: GenerationRequest;
  readonly signal: AbortSignal;
};

type Report = (progress: number) => void;

/** Runs the provider's job of a task to its video: resumes the one that an earlier attempt began, else asks for a new one. */
export async function runProviderJob(deps: ActivityDeps, attempt: Attempt, report: Report): Promise<GeneratedVideo> {
  return followProviderJob(deps, await openInTime(deps, attempt), attempt, report);
}

/** After the deadline every error ends the task; but an unavailable database is waited for, to check the job once more. */
async function openInTime(deps: ActivityDeps, attempt: Attempt): Promise<OpenJob> {
  try {
    return await openProviderJob(deps, attempt);
  } catch (error) {
    const isDecided = error instanceof DatabaseUnavailable || (error instanceof TaskFault && !error.retryable);
    throw attempt.signal.reason === deadlinePassed && !isDecided ? deadlinePassed : error;
  }
}

/**
 * The provider's job of this task: the one an earlier attempt began, else a new one from the first provider of the
 * model's list that takes it. A second job costs money, so an earlier call whose answer was lost is looked up first,
 * and the task fails rather than ask twice.
 */
export async function openProviderJob(deps: ActivityDeps, attempt: Attempt): Promise<OpenJob> {
  const { task } = attempt;
  // No job is created before the generation has begun, so the first attempt finds none.
  const jobs = task.isFirst === true ? [] : await listProviderJobs(deps.db, task.taskId);
  const decided = jobs.find((job) => job.failure !== undefined)?.failure;
  // An attempt whose answer was lost had come to this end; another provider is not asked for what was decided.
  if (decided !== undefined) throw new TaskFault(decided.failCode, decided.failMsg);
  const open = jobs.find((job) => job.outcome === undefined || job.outcome === 'success');
  const resumed = open === undefined ? undefined : await resumeJob(deps, open, attempt);
  if (resumed !== undefined) return resumed;
  // The provider that was found to have made no job may be asked again.
  const tried = jobs.map((job) => (job === open ? { ...job, outcome: 'not_created' as const } : job));
  return submitToFirst(deps, tried, attempt);
}

async function resumeJob(
  deps: ActivityDeps,
  job: ProviderJob,
  { request, signal }: Attempt,
): Promise<OpenJob | undefined> {
  const provider = deps.providers.get(job.provider);
  if (provider === undefined) throw unavailable(`provider ${job.provider} is not configured on this worker`, true);
  const { taskId } = request;
  const { ordinal } = job;
  if (job.jobId !== undefined) return { taskId, ordinal, provider, jobId: job.jobId };
  const recovered = await provider.recover(request, signal);
  if (recovered.kind === 'found') return recorded(deps, { taskId, ordinal, provider, jobId: recovered.jobId });
  if (recovered.kind === 'unknown') {
    const fault = unavailable(`the answer of ${job.provider} was lost`, false);
    await failWith(deps, { taskId, ordinal }, 'abandoned', fault);
    throw fault;
  }
  if (job.ageMs < callSettledAfterMs) throw unavailable(`${job.provider} may be making the job at this moment`, true);
  await endProviderJob(deps.db, { taskId, ordinal, outcome: 'not_created' });
  return undefined;
}

/** Calls for a job that a task may make; each of them but the last was refused without creating a job. */
const maxJobs = 20;

async function submitToFirst(
  deps: ActivityDeps,
  tried: readonly ProviderJob[],
  { task, request, signal }: Attempt,
): Promise<OpenJob> {
  // A bad image ends the task before anything is asked of a provider.
  await request.images();
  if (tried.length >= maxJobs) throw unavailable(`${maxJobs} calls made no job`, false);
  const spent = new Set(tried.filter((job) => job.outcome !== 'not_created').map((job) => job.provider));
  const candidates = providersOf(deps, task).filter((provider) => !spent.has(provider.name));
  let ordinal = tried.length;
  let lastFault = unavailable('no provider is left to ask', false);
  for (const provider of candidates) {
    ordinal += 1;
    signal.throwIfAborted();
    const intended = await intendProviderJob(deps.db, { taskId: task.taskId, ordinal, provider: provider.name });
    // It may create a job just now, so no other provider is asked either.
    if (!intended) throw unavailable('another attempt is asking a provider', true);
    try {
      const jobId = await provider.submit(request, signal);
      return await recorded(deps, { taskId: task.taskId, ordinal, provider, jobId });
    } catch (error) {
      // Only a TaskFault from submit means that no job exists. Any other error, also our own deadline from the signal, leaves
      // the intent open; a later attempt asks the provider for the job.
      if (!(error instanceof TaskFault) || error === signal.reason) throw error;
      await endProviderJob(deps.db, { taskId: task.taskId, ordinal, outcome: 'not_created' });
      if (error.failCode !== 'provider_unavailable') throw error;
      lastFault = error;
    }
  }
  throw lastFault;
}

/** Today's order counts, so that an operator can move waiting tasks to another provider; a task of a removed model keeps its own. */
function providersOf(deps: ActivityDeps, task: Attempt['task']): readonly Provider[] {
  const names = deps.models.get(task.param.model)?.providers ?? task.providers ?? [];
  return names.flatMap((name) => deps.providers.get(name) ?? []);
}

/** The job, once its id is committed. A job whose intent was closed is stopped; the next attempt finds the state of its task. */
async function recorded(deps: ActivityDeps, job: OpenJob): Promise<OpenJob> {
  if (await recordProviderJob(deps.db, job)) return job;
  await job.provider.cancel(job.jobId);
  throw new Error(`the call for job ${job.jobId} had been given up; the job is stopped`);
}

function unavailable(detail: string, retryable: boolean): TaskFault {
  const message = 'The video provider is not available at the moment.';
  return new TaskFault('provider_unavailable', message, { retryable, cause: new Error(detail) });
}

/**
 * Follows the job to its video. At the deadline the provider is asked once more; a cancelled task stops the job. The
 * outcome is committed, so that an attempt whose answer is lost is repeated with the same end.
 */
async function followProviderJob(
  deps: ActivityDeps,
  job: OpenJob,
  { request, signal }: Attempt,
  report: Report,
): Promise<GeneratedVideo> {
  const { provider, jobId } = job;
  try {
    signal.throwIfAborted();
    return await provider.follow(jobId, request, report, signal);
  } catch (error) {
    if (signal.reason === deadlinePassed) return askOnceMore(deps, job);
    if (signal.aborted) throw await stopped(deps, job);
    if (error instanceof TaskFault && !error.retryable) await failWith(deps, job, 'fail', error);
    throw error;
  }
}

/** At the deadline the provider is asked once more, since a video that is ready is better than a refund. */
async function askOnceMore(deps: ActivityDeps, job: OpenJob): Promise<GeneratedVideo> {
  const video = await answerInTime(job.provider.result(job.jobId));
  if (video !== undefined) return video;
  // Committed before the job is stopped, so that a repeated attempt finds the deadline passed, not a job that failed.
  await touchGenerations(deps.db, [job.taskId]);
  await answerInTime(job.provider.cancel(job.jobId));
  await failWith(deps, job, 'abandoned', deadlinePassed);
  throw deadlinePassed;
}

/** For each of the last calls to the provider. */
const answerLimitMs = 15_000;

/** Commits the job's end together with its reason, so that a repeated attempt comes to the same end. */
function failWith(
  deps: ActivityDeps,
  { taskId, ordinal }: Pick<OpenJob, 'taskId' | 'ordinal'>,
  outcome: 'fail' | 'abandoned',
  fault: TaskFault,
): Promise<void> {
  const failure = { failCode: fault.failCode, failMsg: fault.message };
  return endProviderJob(deps.db, { taskId, ordinal, outcome, failure });
}

/**
 * Only a cancelled task stops the provider's job. A worker that shuts down, or that was taken for dead, leaves it to the
 * next attempt; a workflow that was terminated or reset leaves it to `reconcile`, which knows which of the two it was.
 */
async function stopped(deps: ActivityDeps, job: OpenJob): Promise<Error> {
  if (Context.current().cancellationDetails?.cancelRequested !== true) {
    return new TaskFault('internal', 'This attempt gives way to another.', { retryable: true });
  }
  const hasStopped = await answerInTime(job.provider.cancel(job.jobId).then(() => true));
  const cancelled = new TaskFault('cancelled', 'The task was cancelled.');
  if (hasStopped === true) await failWith(deps, job, 'abandoned', cancelled);
  return new CancelledFailure('the task was cancelled');
}

/** The answer, or undefined when it fails or takes too long: the task ends without it, too. */
function answerInTime<T>(answer: Promise<T>): Promise<T | undefined> {
  const noAnswer = () => undefined;
  return pTimeout(answer.catch(noAnswer), { milliseconds: answerLimitMs, fallback: noAnswer });
}
