import { Context } from '@temporalio/activity';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TaskError } from '../src/platform/errors.ts';
import type { VideoForm } from '../src/tasks/ports.ts';
import type { TaskResult } from '../src/tasks/task.ts';
import { FfmpegError } from '../src/media/ffmpeg.ts';
import { isBelow } from '../src/media/frame-size.ts';
import { markVideo } from '../src/media/mark-video.ts';
import { videoLayoutOf } from '../src/media/video-layout.ts';
import { measureWhole } from '../src/media/inspect-video.ts';
import type { VideoFacts } from '../src/media/probe-video.ts';
import type { GeneratedVideo } from '../src/providers/contract.ts';
import { withRetryRecorded } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { keepAliveMs } from './heartbeats.ts';
import { mediaKeysOf } from './task-files.ts';
import { withWorkFolder } from './work-folder.ts';

/** The keys of the generated video, and of the poster delivered with it, in our own store. */
export type StagedVideo = {
  readonly key: string;
  readonly posterKey?: string;
  /** Without it the file is stored as it is, or refused. */
  readonly form?: VideoForm;
  /** Set if both are already stored under their final keys. */
  readonly result?: TaskResult;
};

/**
 * Converts the staged video if necessary, checks that it plays and has the resolution, measures it, makes its poster if it has none and
 * its last frame if the model needs it, and moves all to their final keys. The keys are the same on every retry, so a retry overwrites its own work.
 */
export function createStoreResult(deps: ActivityDeps) {
  return ({ taskId, staged }: { taskId: string; staged: StagedVideo }): Promise<TaskResult> =>
    withRetryRecorded(deps, taskId, () =>
      withHeartbeats(() =>
        withWorkFolder(deps.workFolder, `${taskId}-result`, (folder) => store(deps, taskId, staged, folder)),
      ),
    );
}

const maxTimeouts = 3;
const timeoutsSchema = z.object({ timeouts: z.int().nonnegative() });

/**
 * Sends heartbeats while `work` runs, so that a cancellation arrives and a dead worker is replaced. They carry the number of timeouts to
 * the next attempt: a video that ffmpeg cannot convert in time is not retried for a whole day.
 */
async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const { data } = timeoutsSchema.safeParse(context.info.heartbeatDetails);
  const timeouts = data?.timeouts ?? 0;
  const timer = setInterval(() => context.heartbeat({ timeouts }), keepAliveMs);
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof FfmpegError && cause.failure.timedOut)) throw cause;
    if (timeouts + 1 >= maxTimeouts)
      throw new TaskError('result_invalid', 'The generated video took too long to convert.', { cause });
    context.heartbeat({ timeouts: timeouts + 1 });
    throw cause;
  } finally {
    clearInterval(timer);
  }
}

async function store(deps: ActivityDeps, taskId: string, staged: StagedVideo, folder: string): Promise<TaskResult> {
  requireOwn(taskId, staged);
  const startedAt = performance.now();
  const { media } = deps;
  const { video: videoKey, poster: posterKey, lastFrame: lastFrameKey } = mediaKeysOf(taskId);
  const [videoPath, posterPath] = [join(folder, 'video.mp4'), join(folder, 'poster.jpg')];
  const signal = Context.current().cancellationSignal;
  const posterKeys = staged.posterKey === undefined ? [] : [staged.posterKey, posterKey];
  const [hasVideo, hasPoster] = await Promise.all([
    fetchFirst(media, [staged.key, videoKey], videoPath),
    fetchFirst(media, posterKeys, join(folder, 'delivered.jpg')),
  ]);
  if (!hasVideo) throw new TaskError('result_invalid', 'The generated video was lost before it could be stored.');
  const { form } = staged;
  const normalization = { videoPath, targetPath: join(folder, 'normalized.mp4'), signal };
  const convertedPath = form === undefined ? videoPath : await deps.normalizeVideo({ ...normalization, form });
  const markedPath = join(folder, 'marked.mp4');
  const fittingPath = await marked(deps, taskId, { form, videoPath, convertedPath, markedPath });
  const deliveredPoster = hasPoster ? join(folder, 'delivered.jpg') : undefined;
  const lastFramePath = form?.lastFrame === true ? join(folder, 'last-frame.jpg') : undefined;
  const inspection = { videoPath: fittingPath, deliveredPoster, posterPath, lastFramePath, signal };
  const { measured, isPosterMade } = await deps.inspectVideo(inspection);
  if (form !== undefined) requireResolution(measured, form);
  // It replaces the original, so that a retry finds a video that fits.
  if (fittingPath !== videoPath) await media.put(staged.key, fittingPath);
  if (isPosterMade) await media.put(posterKey, posterPath);
  if (lastFramePath !== undefined) await media.put(lastFrameKey, lastFramePath);
  const isDelivered = staged.posterKey !== undefined && !isPosterMade;
  await media.move([
    ...(isDelivered ? [{ from: staged.posterKey, to: posterKey }] : []),
    { from: staged.key, to: videoKey },
  ]);
  // The delivered poster was invalid.
  if (staged.posterKey !== undefined && isPosterMade) await media.delete(staged.posterKey);
  deps.events.emit({ kind: 'stage_ended', stage: 'store', durationMs: performance.now() - startedAt });
  return { videoKey, posterKey, ...(lastFramePath !== undefined && { lastFrameKey }), ...measured };
}

type Marking = {
  readonly form: VideoForm | undefined;
  readonly videoPath: string;
  readonly convertedPath: string;
  readonly markedPath: string;
};

/** Marks a video whose model needs it. The signature of one that is stored as it was signed would break, and its manifest is the better mark. */
async function marked(
  { serviceName: service }: Pick<ActivityDeps, 'serviceName'>,
  taskId: string,
  { form, videoPath, convertedPath, markedPath }: Marking,
): Promise<string> {
  if (form?.mark === undefined) return convertedPath;
  const isConverted = convertedPath !== videoPath;
  if (!isConverted && (await videoLayoutOf(videoPath)).manifest !== undefined) return videoPath;
  const { model } = form.mark;
  return await markVideo(convertedPath, isConverted ? convertedPath : markedPath, { taskId, model, service });
}

/**
 * Stores a video and its poster directly under their final keys if neither needs a conversion; `storeResult` is skipped then. Returns
 * undefined for all others, which are staged: `storeResult` checks them, and retries while the store fails.
 */
export async function storeDelivered(
  { media, events }: ActivityDeps,
  taskId: string,
  { path, posterPath }: GeneratedVideo,
): Promise<TaskResult | undefined> {
  const poster = await usablePoster(posterPath);
  if (poster === undefined) return undefined;
  const startedAt = performance.now();
  const { video: videoKey, poster: posterKey } = mediaKeysOf(taskId);
  try {
    const measured = await measureWhole(path, poster);
    if (measured === undefined) return undefined;
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
export async function usablePoster(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const file = await stat(path).catch(() => undefined);
  return file?.isFile() === true && file.size <= maxPosterBytes ? path : undefined;
}

/**
 * The keys come from a history, into which an operator may write anything. Another task's video must not be moved, and an unknown
 * key must not be retried for a day.
 */
function requireOwn(taskId: string, staged: StagedVideo | null | undefined): void {
  const own = mediaKeysOf(taskId);
  const isOwnPoster = staged?.posterKey === undefined || staged.posterKey === own.stagedPoster;
  if (staged?.key === own.staged && isOwnPoster) return;
  const cause = new Error(`not the staging keys of task ${taskId}: ${JSON.stringify(staged)}`);
  throw new TaskError('result_invalid', 'The generated video is not that of this task.', { cause });
}

/** A client that paid for 1080p must not get 720p. */
function requireResolution({ widthPx, heightPx }: VideoFacts, { resolution }: VideoForm): void {
  if (!isBelow(resolution, { widthPx, heightPx })) return;
  const message = `The generated video has ${widthPx} × ${heightPx} pixels, fewer than the ${resolution} of the request.`;
  throw new TaskError('result_invalid', message);
}

/** The second key is the final one, to which an attempt whose response was lost has moved the file. */
async function fetchFirst(media: ActivityDeps['media'], keys: readonly string[], filePath: string): Promise<boolean> {
  for (const key of keys) if (await media.fetchTo(key, filePath)) return true;
  return false;
}
