import { Context } from '@temporalio/activity';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TaskError } from '../src/catalogue/tasks/task-error.ts';
import type { ConversionBeforeStorage } from '../src/catalogue/media/conversion-before-storage.ts';
import type { TaskResult } from '../src/catalogue/tasks/task.ts';
import { FfmpegError } from '../src/media/ffmpeg/ffmpeg.ts';
import { ReadTimeoutError } from '../src/media/video/run-video-reader.ts';
import { labelAsGenerated } from '../src/media/video/label-as-generated.ts';
import { videoLayoutOf } from '../src/media/video/mp4-top-level-boxes.ts';
import { measureVideoIfPosterFits, type VideoInspector } from '../src/media/video/inspect-and-make-poster.ts';
import type { VideoNormalizer } from '../src/media/ffmpeg/convert-result-video.ts';
import type { ResultStore } from '../src/media/store/result-store.ts';
import type { TaskEventSink } from '../src/tasks/task-metric-events.ts';
import type { Database } from '../src/platform/database/database.ts';
import type { GeneratedVideoFile } from '../src/providers/provider-contract.ts';
import { withErrorsConvertedAndRetrySaved } from './convert-errors-and-save-retry-time.ts';
import { ownMachineHeartbeatMs } from './heartbeats.ts';
import { findStoredVideo, resultKeysOf, stagingKeysOf } from './task-file-keys-and-deletion.ts';
import { withWorkFolder } from './generation/work-folder.ts';
import { type WorkFolderAndReadiness, requireWorkingMachine } from './require-working-machine.ts';

export type StoreResultDeps = {
  readonly db: Database;
  readonly media: Pick<ResultStore, 'put' | 'fetchTo' | 'list' | 'delete'>;
  readonly normalizeVideo: VideoNormalizer;
  readonly inspectVideo: VideoInspector;
  /** The name of the service, which marks of videos contain. */
  readonly serviceName: string;
  readonly machine: WorkFolderAndReadiness;
  readonly events: TaskEventSink;
};

/** A generated video that is in our own store. */
export type ConversionOrStoredResult = {
  /** Undefined if the file is stored as it is, or refused. */
  readonly form?: ConversionBeforeStorage;
  /** Set if the video is already stored under its final key. */
  readonly result?: TaskResult;
};

/**
 * Converts the staged video if necessary, checks that it plays, measures it, makes its poster if it has none and its last frame if the
 * model needs it, and stores all under their final keys. `completeTask` compares the measures with the order.
 */
export function createStoreResultActivity(deps: StoreResultDeps) {
  return ({ taskId, form }: StoreOrder): Promise<TaskResult> =>
    withErrorsConvertedAndRetrySaved(deps.db, taskId, () => {
      requireWorkingMachine(deps.machine);
      return withHeartbeats(() =>
        withWorkFolder(deps.machine.workFolder, `${taskId}-result`, (folder) => store(deps, { taskId, form }, folder)),
      );
    });
}

type StoreOrder = { readonly taskId: string; readonly form?: ConversionBeforeStorage | undefined };

const maxTimeouts = 3;
const timeoutsSchema = z.object({ timeouts: z.int().nonnegative() });

/**
 * Sends heartbeats while `work` runs, so that a cancellation arrives and a dead worker is replaced. They carry the number of timeouts to
 * the next attempt: a video that cannot be converted or read in time is not retried for a whole day.
 */
async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const { data } = timeoutsSchema.safeParse(context.info.heartbeatDetails);
  const timeouts = data?.timeouts ?? 0;
  const timer = setInterval(() => context.heartbeat({ timeouts }), ownMachineHeartbeatMs);
  try {
    return await work();
  } catch (cause) {
    if (!isTimeout(cause)) throw cause;
    if (timeouts + 1 >= maxTimeouts)
      throw new TaskError('result_invalid', 'The generated video took too long to convert.', { cause });
    context.heartbeat({ timeouts: timeouts + 1 });
    throw cause;
  } finally {
    clearInterval(timer);
  }
}

/** A stall does not count: a work volume that hangs stops ffmpeg too, and must not end every task within minutes. */
function isTimeout(error: unknown): boolean {
  return error instanceof ReadTimeoutError || (error instanceof FfmpegError && error.failure.timedOut);
}

async function store(deps: StoreResultDeps, { taskId, form }: StoreOrder, folder: string): Promise<TaskResult> {
  const startedAt = performance.now();
  const { media } = deps;
  const staging = stagingKeysOf(taskId);
  const [videoPath, deliveredPath] = [join(folder, 'video.mp4'), join(folder, 'delivered.jpg')];
  const signal = Context.current().cancellationSignal;
  const hasPoster = await fetchVideoAndPoster(media, taskId, { videoPath, posterPath: deliveredPath });
  const normalization = { videoPath, targetPath: join(folder, 'normalized.mp4'), signal };
  const convertedPath = form === undefined ? videoPath : await deps.normalizeVideo({ ...normalization, form });
  const marking = { videoPath, convertedPath, markedPath: join(folder, 'marked.mp4') };
  const fittingPath = await marked(deps, { taskId, form }, marking);
  const deliveredPoster = hasPoster ? deliveredPath : undefined;
  const posterPath = join(folder, 'poster.jpg');
  const lastFramePath = form?.lastFrame === true ? join(folder, 'last-frame.jpg') : undefined;
  const inspection = { videoPath: fittingPath, deliveredPoster, posterPath, lastFramePath, signal };
  const { measured, isPosterMade } = await deps.inspectVideo(inspection);
  const { video: videoKey, poster: posterKey, lastFrame: lastFrameKey } = resultKeysOf(taskId, measured.sha256);
  await media.put(posterKey, isPosterMade ? posterPath : deliveredPath);
  if (lastFramePath !== undefined) await media.put(lastFrameKey, lastFramePath);
  await media.put(videoKey, fittingPath);
  // The staged files are deleted last. If the response of this attempt is lost, the next one needs either them or the stored files.
  await Promise.all([media.delete(staging.video), media.delete(staging.poster)]);
  deps.events.emit({ kind: 'stage_ended', stage: 'store', durationMs: performance.now() - startedAt });
  return { videoKey, posterKey, ...(lastFramePath !== undefined && { lastFrameKey }), ...measured };
}

/** Returns whether there is a poster. Throws if there is no video, neither staged nor stored by an earlier attempt. */
async function fetchVideoAndPoster(
  media: Pick<ResultStore, 'fetchTo' | 'list'>,
  taskId: string,
  { videoPath, posterPath }: { readonly videoPath: string; readonly posterPath: string },
): Promise<boolean> {
  const staging = stagingKeysOf(taskId);
  if (await media.fetchTo(staging.video, videoPath)) return await media.fetchTo(staging.poster, posterPath);
  const stored = await findStoredVideo(media, taskId);
  if (stored !== undefined && (await media.fetchTo(stored.videoKey, videoPath)))
    return await media.fetchTo(stored.posterKey, posterPath);
  throw new TaskError('result_invalid', 'The generated video was lost before it could be stored.');
}

/**
 * Marks a video as made by a model, if its form requires it. A signed video that was not converted is left unchanged: a mark would break
 * its signature, and its manifest is the better mark.
 */
async function marked(
  { serviceName: service }: Pick<StoreResultDeps, 'serviceName'>,
  { taskId, form }: StoreOrder,
  { videoPath, convertedPath, markedPath }: Readonly<Record<'videoPath' | 'convertedPath' | 'markedPath', string>>,
): Promise<string> {
  if (form?.mark === undefined) return convertedPath;
  const isConverted = convertedPath !== videoPath;
  if (!isConverted && (await videoLayoutOf(videoPath)).manifest !== undefined) return videoPath;
  const { model } = form.mark;
  return await labelAsGenerated(convertedPath, isConverted ? convertedPath : markedPath, { taskId, model, service });
}

/**
 * Stores a video and its poster directly under their final keys if neither needs a conversion; `storeResult` is skipped then. Returns
 * undefined for all others, which are staged: `storeResult` checks them, and retries while the store fails.
 */
export async function storeIfNothingToConvert(
  { media, events }: { readonly media: Pick<ResultStore, 'put'>; readonly events: TaskEventSink },
  taskId: string,
  { path, posterPath }: GeneratedVideoFile,
): Promise<TaskResult | undefined> {
  const poster = await usablePosterPath(posterPath);
  if (poster === undefined) return undefined;
  const startedAt = performance.now();
  try {
    const measured = await measureVideoIfPosterFits(path, poster);
    if (measured === undefined) return undefined;
    const { video: videoKey, poster: posterKey } = resultKeysOf(taskId, measured.sha256);
    await Promise.all([media.put(videoKey, path), media.put(posterKey, poster)]);
    events.emit({ kind: 'stage_ended', stage: 'store', durationMs: performance.now() - startedAt });
    return { videoKey, posterKey, ...measured };
  } catch {
    return undefined;
  }
}

/** Far more than a JPEG of 720p needs. */
const maxPosterBytes = 4 * 1024 * 1024;

/** Returns the path if it is a file that may be a poster. */
export async function usablePosterPath(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const file = await stat(path).catch(() => undefined);
  return file?.isFile() === true && file.size <= maxPosterBytes ? path : undefined;
}
