import { Context } from '@temporalio/activity';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReferenceImage, VideoWants } from '../src/domain/ports.ts';
import { TaskFault } from '../src/domain/errors.ts';
import type { GeneratedVideo, GenerationRequest } from '../src/providers/provider.ts';
import { succeedProviderJob } from '../src/stores/provider-jobs.ts';
import { attemptTouchMs, type GeneratingTask, startGeneration, touchGenerations } from '../src/stores/tasks.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { heartbeatProgress } from './heartbeats.ts';
import { mediaKeysOf, withWorkFolder } from './task-files.ts';
import { deadlinePassed, runProviderJob } from './provider-job.ts';

/** Where the generated video waits for `storeResult`: its key in our own store, and that of the poster delivered with it. */
export type StagedVideo = {
  readonly key: string;
  readonly posterKey?: string;
  /** Without it the file is stored as it is, or refused. */
  readonly wants?: VideoWants;
};

/**
 * Runs the generation to its end, or resumes the provider's job that an earlier attempt began. Reports progress by
 * heartbeat. The task's own deadline limits the time it runs, over all attempts, without the pauses between them. The order's
 * `deadlineMs` counts only for a task that was accepted before deadlines were stored.
 */
export function createGenerateVideo(deps: ActivityDeps) {
  return ({ taskId, deadlineMs }: { taskId: string; deadlineMs: number }): Promise<StagedVideo> =>
    withActivityFailures(async () => {
      const localProviders = [...deps.providers.values()].filter(({ isLocal }) => isLocal).map(({ name }) => name);
      const task = await startGeneration(deps.db, taskId, deadlineMs, localProviders);
      if (task === undefined) throw new TaskFault('internal', 'The task has already ended.');
      const staged = await withWorkFolder(deps.workFolder, taskId, (workFolder) => generate(deps, task, workFolder));
      const wants = wantsOf(deps, task);
      return wants === undefined ? staged : { ...staged, wants };
    });
}

/** From the task alone, so that an attempt that finds the video of an earlier one says the same. */
function wantsOf({ fitOf }: ActivityDeps, { param }: GeneratingTask): VideoWants | undefined {
  const { generateAudio: audio, ratio } = param.input;
  const fit = fitOf?.(param.model);
  return fit === undefined ? undefined : { audio, fit, ratio };
}

async function generate(deps: ActivityDeps, task: GeneratingTask, workFolder: string): Promise<StagedVideo> {
  const context = Context.current();
  const deadline = new AbortController();
  const onDeadline = () => deadline.abort(deadlinePassed);
  if (task.leftMs <= 0) onDeadline();
  const timer = setTimeout(onDeadline, task.leftMs);
  const signal = AbortSignal.any([context.cancellationSignal, deadline.signal]);
  const alive = setInterval(() => void touch(deps, task.taskId), attemptTouchMs);
  const progress = heartbeatProgress(context);
  try {
    const earlier = task.isFirst ? undefined : await stagedEarlier(deps, task.taskId, workFolder);
    if (earlier !== undefined) return earlier;
    const request = generationRequest(deps, task, workFolder, signal);
    const video = await runProviderJob(deps, { task, request, signal }, progress.report);
    const staged = await stageVideo(deps, task.taskId, video);
    await succeedProviderJob(deps.db, task.taskId);
    return staged;
  } finally {
    clearTimeout(timer);
    clearInterval(alive);
    progress.stop();
  }
}

/** While the database is unavailable, the time that the attempt uses of its deadline is not counted; nothing else happens. */
async function touch(deps: ActivityDeps, taskId: string): Promise<void> {
  await touchGenerations(deps.db, [taskId]).catch((error: unknown) =>
    deps.log.warn({ err: error, taskId }, 'generation not recorded as alive'),
  );
}

/** An earlier attempt may have stored its video, and only its answer was lost; then nothing is generated again. */
async function stagedEarlier(deps: ActivityDeps, taskId: string, workFolder: string): Promise<StagedVideo | undefined> {
  const { staged, stagedPoster } = mediaKeysOf(taskId);
  if (!(await deps.media.fetchTo(staged, join(workFolder, 'staged.mp4')))) return undefined;
  const hasPoster = await deps.media.fetchTo(stagedPoster, join(workFolder, 'staged.jpg'));
  await succeedProviderJob(deps.db, taskId);
  return hasPoster ? { key: staged, posterKey: stagedPoster } : { key: staged };
}

function generationRequest(
  deps: ActivityDeps,
  task: GeneratingTask,
  workFolder: string,
  signal: AbortSignal,
): GenerationRequest {
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

async function stageVideo(deps: ActivityDeps, taskId: string, video: GeneratedVideo): Promise<StagedVideo> {
  const { staged, stagedPoster } = mediaKeysOf(taskId);
  const [hasPoster] = await Promise.all([
    stagePoster(deps, stagedPoster, video.posterPath),
    deps.media.put(staged, video.path),
  ]);
  return hasPoster ? { key: staged, posterKey: stagedPoster } : { key: staged };
}

/** Far more than a JPEG of 720p needs; a larger file is no poster, and is not copied. */
const maxPosterBytes = 4 * 1024 * 1024;

/** Whether there was one to stage: without it the poster is made from the video. */
async function stagePoster(deps: ActivityDeps, key: string, path: string | undefined): Promise<boolean> {
  if (path === undefined) return false;
  const file = await stat(path).catch(() => undefined);
  if (file?.isFile() !== true || file.size > maxPosterBytes) return false;
  await deps.media.put(key, path);
  return true;
}
