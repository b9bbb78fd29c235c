import { CancelledFailure, Context } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import { TaskFault } from '../src/domain/task-fault.ts';
import type { Task } from '../src/domain/task.ts';
import type { GeneratedVideo, GenerationRequest, Provider, ReferenceImage } from '../src/providers/provider.ts';
import { endProviderJob } from '../src/stores/provider-jobs.ts';
import { startGeneration } from '../src/stores/tasks.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { heartbeatProgress } from './heartbeat-progress.ts';
import { openProviderJob, type OpenJob } from './open-provider-job.ts';
import { withWorkFolder } from './work-folder.ts';

/** Where the generated video waits for `storeResult`: its key in our own store. */
export type StagedVideo = { readonly key: string };

/**
 * Runs the generation to its end, or resumes the provider's job that an earlier attempt began. Reports progress by
 * heartbeat. The deadline counts from the first start of generation, over all attempts.
 */
export function createGenerateVideo(deps: ActivityDeps) {
  return ({ taskId, deadlineMs }: { taskId: string; deadlineMs: number }): Promise<StagedVideo> =>
    withActivityFailures(async () => {
      const task = await startGeneration(deps.db, taskId);
      if (task === undefined) throw new TaskFault('internal', 'The task has already ended.');
      return withWorkFolder(deps.workFolder, taskId, (workFolder) => generate(deps, task, deadlineMs, workFolder));
    });
}

async function generate(deps: ActivityDeps, task: Task, deadlineMs: number, workFolder: string): Promise<StagedVideo> {
  const limits = new AbortController();
  const context = Context.current();
  const onCancel = () => limits.abort(context.cancellationSignal.reason);
  context.cancellationSignal.addEventListener('abort', onCancel, { once: true });
  if (context.cancellationSignal.aborted) onCancel();
  const deadlineAt = (task.generationStartedAt ?? Date.now()) + deadlineMs;
  const timer = setTimeout(() => limits.abort(deadlinePassed), Math.max(0, deadlineAt - Date.now()));
  const progress = heartbeatProgress(context);
  try {
    const request = generationRequest(deps, task, workFolder, limits.signal);
    const job = await openProviderJob(deps, task, request, limits.signal);
    const video = await followJob(deps, job, request, progress.report, limits.signal);
    const source = await stageVideo(deps, task.taskId, video);
    await endProviderJob(deps.db, { ...job, outcome: 'success' });
    return source;
  } finally {
    clearTimeout(timer);
    context.cancellationSignal.removeEventListener('abort', onCancel);
    progress.stop();
  }
}

const deadlinePassed = new TaskFault('timeout', 'The video was not finished within the time allowed for this model.');

function generationRequest(deps: ActivityDeps, task: Task, workFolder: string, signal: AbortSignal): GenerationRequest {
  let images: Promise<readonly ReferenceImage[]> | undefined;
  const { model, input } = task.param;
  return {
    taskId: task.taskId,
    model,
    input,
    workFolder,
    images: () => (images ??= deps.fetchImages({ urls: input.imageUrls, folder: workFolder, signal })),
  };
}

async function followJob(
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
    if (signal.reason === deadlinePassed) return lastLook(deps, job);
    if (signal.aborted) throw await stopped(provider, jobId);
    if (error instanceof TaskFault && !error.retryable) await endProviderJob(deps.db, { ...job, outcome: 'fail' });
    throw error;
  }
}

/** At the deadline the provider is asked once more, since a video that is ready is better than a refund. */
async function lastLook(deps: ActivityDeps, job: OpenJob): Promise<GeneratedVideo> {
  const video = await withinMs(lastLookMs, job.provider.result(job.jobId));
  if (video !== undefined) return video;
  await withinMs(lastLookMs, job.provider.cancel(job.jobId));
  await endProviderJob(deps.db, { ...job, outcome: 'abandoned' });
  throw deadlinePassed;
}

const lastLookMs = 15_000;

/** A worker that shuts down leaves the provider's job alone for the next one; a cancelled task stops it. */
async function stopped(provider: Provider, jobId: string): Promise<Error> {
  const details = Context.current().cancellationDetails;
  if (details?.workerShutdown === true)
    return new TaskFault('internal', 'The worker is shutting down.', { retryable: true });
  await withinMs(lastLookMs, provider.cancel(jobId));
  return new CancelledFailure('the task was cancelled');
}

/** The answer, or undefined when it fails or takes too long: these calls are a courtesy, not a step. */
async function withinMs<T>(limitMs: number, answer: Promise<T>): Promise<T | undefined> {
  const expiry = new AbortController();
  try {
    return await Promise.race([answer.catch(() => undefined), delay(limitMs, undefined, { signal: expiry.signal })]);
  } finally {
    expiry.abort();
  }
}

async function stageVideo(deps: ActivityDeps, taskId: string, video: GeneratedVideo): Promise<StagedVideo> {
  const key = `staging/${taskId}/video.mp4`;
  await deps.media.put(key, video.path, 'video/mp4');
  return { key };
}
