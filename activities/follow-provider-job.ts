import { CancelledFailure, Context } from '@temporalio/activity';
import { TaskFault } from '../src/domain/task-fault.ts';
import { withinMs } from '../src/domain/time-limit.ts';
import type { GeneratedVideo, GenerationRequest } from '../src/providers/provider.ts';
import { endProviderJob } from '../src/stores/provider-jobs.ts';
import { touchGeneration } from '../src/stores/tasks.ts';
import type { ActivityDeps } from './deps.ts';
import type { OpenJob } from './open-provider-job.ts';

/** With this reason the signal of a generation aborts when the model's deadline passes. */
export const deadlinePassed = new TaskFault(
  'timeout',
  'The video was not finished within the time allowed for this model.',
);

/**
 * Follows the job to its video. At the deadline the provider is asked once more; a cancelled task stops the job. The
 * outcome is committed, so that an attempt whose answer is lost is repeated with the same end.
 */
export async function followProviderJob(
  deps: ActivityDeps,
  job: OpenJob,
  request: GenerationRequest,
  report: (progress: number) => void,
  signal: AbortSignal,
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
  await touchGeneration(deps.db, job.taskId);
  await answerInTime(job.provider.cancel(job.jobId));
  await failWith(deps, job, 'abandoned', deadlinePassed);
  throw deadlinePassed;
}

/** For each of the last calls to the provider. */
const answerLimitMs = 15_000;

/** Commits the job's end together with its reason, so that a repeated attempt comes to the same end. */
function failWith(deps: ActivityDeps, job: OpenJob, outcome: 'fail' | 'abandoned', fault: TaskFault): Promise<void> {
  const { taskId, ordinal } = job;
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
  return withinMs(answerLimitMs, answer.catch(noAnswer), noAnswer);
}
