import { Context } from '@temporalio/activity';
import { TaskFault } from '../src/domain/errors.ts';
import type { ReferenceImage, TaskStage, VideoWants } from '../src/domain/ports.ts';
import type { GeneratedVideo } from '../src/providers/contract.ts';
import { listProviderJobs, succeedProviderJob } from '../src/stores/provider-jobs.ts';
import {
  findGeneration,
  type GeneratingTask,
  pauseGeneration,
  recordGenerating,
  startGeneration,
} from '../src/stores/tasks.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { type Attempt, deadlinePassed, isWaiting } from './generation/attempt.ts';
import { openJob, type Opened, requireOwnMachine } from './generation/open-job.ts';
import { workOn } from './generation/work-on.ts';
import { heartbeatProgress } from './heartbeats.ts';
import { type StagedVideo, storeDelivered, usablePoster } from './store-result.ts';
import { imageFolderOf, mediaKeysOf, withWorkFolder } from './task-files.ts';

export type GenerationOrder = {
  readonly taskId: string;
  /** Counts only for a task that was accepted before deadlines were stored. */
  readonly deadlineMs: number;
  /** Whether upstreams generate it: then the task may wait for a place before its generation begins. */
  readonly isRemote?: boolean;
};

/**
 * Runs the generation to its end, or resumes the provider's job that an earlier attempt began. Reports progress by heartbeat. The
 * task's own deadline limits the time it runs, over all attempts, without the pauses between them.
 */
export function createGenerateVideo(deps: ActivityDeps) {
  return (order: GenerationOrder): Promise<StagedVideo> =>
    withActivityFailures(async () => {
      const { taskId, deadlineMs, isRemote = false } = order;
      // Before the generation begins, so that the task stays `queuing` while it waits.
      const opened = isRemote ? await openFirst(deps, taskId) : await requireOwnMachine(deps);
      const task = await startGeneration(deps.db, taskId, deadlineMs, { waitsForJob: isRemote });
      if (task === undefined) throw hasEnded();
      const { createdAt, generationStartedAt = createdAt, isFirst } = task;
      if (isFirst) endStage(deps, 'queue_wait', generationStartedAt - createdAt);
      return await withWorkFolder(deps.workFolder, taskId, (folder) =>
        generate(deps, task, { folder, isRemote, opened: opened ?? undefined }),
      );
    });
}

/** What an upstream delivers is made to fit; the preview delivers exactly what was ordered. */
function wantsOf({ models }: ActivityDeps, { param }: GeneratingTask, isRemote: boolean): VideoWants | undefined {
  const { generateAudio: audio, ratio } = param.input;
  const model = models.get(param.model);
  return isRemote || model?.isRemote === true ? { audio, fit: model?.fit ?? 'keep', ratio } : undefined;
}

function endStage({ events }: ActivityDeps, stage: TaskStage, durationMs: number): void {
  events.emit({ kind: 'stage_ended', stage, durationMs });
}

function hasEnded(): TaskFault {
  return new TaskFault('internal', 'The task has already ended.');
}

/** An attempt, for which the deadline runs, begins only once the task has a place. */
async function openFirst(deps: ActivityDeps, taskId: string): Promise<Opened> {
  const task = await findGeneration(deps.db, taskId);
  if (task === undefined) throw hasEnded();
  return openJob(deps, task, await listProviderJobs(deps.db, taskId));
}

type Start = { readonly folder: string; readonly isRemote: boolean; readonly opened: Opened | undefined };

async function generate(deps: ActivityDeps, task: GeneratingTask, start: Start): Promise<StagedVideo> {
  const context = Context.current();
  const { taskId } = task;
  const wants = wantsOf(deps, task, start.isRemote);
  const deadline = deps.startDeadline(task.leftMs, deadlinePassed);
  const alive = deps.attempts.begin(taskId);
  const patientSignal = AbortSignal.any([context.cancellationSignal, alive.signal]);
  const signal = AbortSignal.any([patientSignal, deadline.signal]);
  const progress = heartbeatProgress(context, start.isRemote);
  let images: Promise<readonly ReferenceImage[]> | undefined;
  const { imageUrls: urls } = task.param.input;
  const fetchImages = () => (images ??= deps.fetchImages({ urls, folder: start.folder, signal }));
  const { report } = progress;
  const { deadlineMs, createdAt } = task;
  let startedAt = task.generationStartedAt;
  const markGenerating = async (sinceMs = 0) => {
    if (startedAt !== undefined) return;
    startedAt = (await recordGenerating(deps.db, taskId, sinceMs))?.generationStartedAt;
    if (startedAt !== undefined) endStage(deps, 'queue_wait', startedAt - createdAt);
  };
  try {
    const parts = { workFolder: start.folder, signal, patientSignal, images: fetchImages, report, deadlineMs };
    const staged = await toVideo({ deps, task, markGenerating, ...parts }, start.opened, wants);
    // It began perhaps on another machine, so this is as good as the clocks agree.
    if (startedAt !== undefined) endStage(deps, 'generation', Date.now() - startedAt);
    // The upstream needs them no more. What a failed task or a crash leaves is found by `reconcile`.
    if (urls.length > 0) await deps.media.deleteFolder(imageFolderOf(taskId));
    return wants === undefined ? staged : { ...staged, wants };
  } catch (error) {
    if (isWaiting(error)) await pauseGeneration(deps.db, taskId);
    throw error;
  } finally {
    deadline.stop();
    alive.stop();
    progress.stop();
  }
}

/** One call after the other, until one has led to the video. */
async function toVideo(
  attempt: Attempt,
  first: Opened | undefined,
  wants: VideoWants | undefined,
): Promise<StagedVideo> {
  const { deps, task } = attempt;
  const { taskId, isFirst } = task;
  // Nothing is created before the generation has begun, so the first attempt at it finds nothing.
  let opened = first ?? (await openJob(deps, task, isFirst ? [] : await listProviderJobs(deps.db, taskId)));
  for (;;) {
    const earlier = opened.kind === 'resumed' ? await stagedEarlier(deps, taskId) : undefined;
    if (earlier !== undefined) return earlier;
    const video = await workOn(attempt, opened);
    if (video !== undefined) {
      const staged =
        'isStaged' in video ? { key: mediaKeysOf(taskId).staged } : await keepVideo(deps, taskId, video, wants);
      await succeed(deps, taskId);
      return staged;
    }
    opened = await openJob(deps, task, await listProviderJobs(deps.db, taskId));
  }
}

/** An earlier attempt may have kept its video, and only its answer was lost; then nothing is generated again. */
async function stagedEarlier(deps: ActivityDeps, taskId: string): Promise<StagedVideo | undefined> {
  const { staged, stagedPoster, video, poster } = mediaKeysOf(taskId);
  const isStored = async (key: string) => (await deps.media.sizeOf(key)) !== undefined;
  if (!(await isStored(staged)) && !(await isStored(video))) return undefined;
  const hasPoster = (await isStored(stagedPoster)) || (await isStored(poster));
  await succeed(deps, taskId);
  return hasPoster ? { key: staged, posterKey: stagedPoster } : { key: staged };
}

async function succeed({ db, events }: ActivityDeps, taskId: string): Promise<void> {
  const job = await succeedProviderJob(db, taskId);
  if (job !== undefined) events.emit({ kind: 'job_ended', job });
}

/** On the disk of our own store from here on, under its staging key or its final one. */
async function keepVideo(
  deps: ActivityDeps,
  taskId: string,
  video: GeneratedVideo,
  wants: VideoWants | undefined,
): Promise<StagedVideo> {
  const { staged, stagedPoster } = mediaKeysOf(taskId);
  const result = wants === undefined ? await storeDelivered(deps, taskId, video) : undefined;
  if (result !== undefined) return { key: staged, posterKey: stagedPoster, result };
  const poster = await usablePoster(video.posterPath);
  await Promise.all([
    deps.media.put(staged, video.path),
    ...(poster === undefined ? [] : [deps.media.put(stagedPoster, poster)]),
  ]);
  // Without it the poster is made from the video.
  return poster === undefined ? { key: staged } : { key: staged, posterKey: stagedPoster };
}
