import { Context } from '@temporalio/activity';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TaskError } from '../src/domain/errors.ts';
import type { VideoWants } from '../src/domain/ports.ts';
import type { TaskResult } from '../src/domain/task.ts';
import { FfmpegError } from '../src/media/ffmpeg.ts';
import { measureWhole } from '../src/media/inspect-video.ts';
import type { GeneratedVideo } from '../src/providers/contract.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { withKeepAlive } from './heartbeats.ts';
import { mediaKeysOf, withWorkFolder } from './task-files.ts';

/**
 * Where the generated video waits for `storeResult`: its key in our own store, and that of the poster delivered with it. `storeResult`
 * finds it under its final key as well, where it is when there is a `result`.
 */
export type StagedVideo = {
  readonly key: string;
  readonly posterKey?: string;
  /** Without it the file is stored as it is, or refused. */
  readonly wants?: VideoWants;
  /** It is stored already. */
  readonly result?: TaskResult;
};

/**
 * Makes the staged video what the task wants, checks that it plays, measures it, makes its poster if it has none, and moves both to
 * their final keys in our own store. The keys are the same on every retry, so a retry overwrites its own work.
 */
export function createStoreResult(deps: ActivityDeps) {
  return ({ taskId, staged }: { taskId: string; staged: StagedVideo }): Promise<TaskResult> =>
    withActivityFailures(() =>
      withTimeoutsCounted((details) =>
        withKeepAlive(details, () =>
          withWorkFolder(deps.workFolder, `${taskId}-result`, (folder) => store(deps, taskId, staged, folder)),
        ),
      ),
    );
}

const maxTimeouts = 3;
const timeoutsSchema = z.object({ timeouts: z.int().nonnegative() });

/** A video that ffmpeg cannot convert in time is not converted for a whole day: heartbeats carry the count to the next attempt. */
async function withTimeoutsCounted<T>(work: (details: () => unknown) => Promise<T>): Promise<T> {
  const context = Context.current();
  const { data } = timeoutsSchema.safeParse(context.info.heartbeatDetails);
  const timeouts = data?.timeouts ?? 0;
  try {
    return await work(() => ({ timeouts }));
  } catch (cause) {
    if (!(cause instanceof FfmpegError && cause.failure.timedOut)) throw cause;
    if (timeouts + 1 >= maxTimeouts)
      throw new TaskError('result_invalid', 'The generated video took too long to convert.', { cause });
    context.heartbeat({ timeouts: timeouts + 1 });
    throw cause;
  }
}

async function store(deps: ActivityDeps, taskId: string, staged: StagedVideo, folder: string): Promise<TaskResult> {
  requireOwn(taskId, staged);
  const startedAt = performance.now();
  const { video: videoKey, poster: posterKey } = mediaKeysOf(taskId);
  const [videoPath, posterPath] = [join(folder, 'video.mp4'), join(folder, 'poster.jpg')];
  const signal = Context.current().cancellationSignal;
  const [hasVideo, deliveredPoster] = await Promise.all([
    fetchFirst(deps, [staged.key, videoKey], videoPath),
    fetchPoster(deps, [staged.posterKey, posterKey], join(folder, 'delivered.jpg')),
  ]);
  if (!hasVideo) throw new TaskError('result_invalid', 'The generated video was lost before it could be stored.');
  const { wants } = staged;
  const normalisation = { videoPath, targetPath: join(folder, 'normalised.mp4'), signal };
  const keptPath = wants === undefined ? videoPath : await deps.normaliseVideo({ ...normalisation, wants });
  const inspection = { videoPath: keptPath, deliveredPoster, posterPath, signal };
  const { measured, isPosterMade } = await deps.inspectVideo(inspection);
  // In the place of the original: a retry then finds a video that fits.
  if (keptPath !== videoPath) await deps.media.put(staged.key, keptPath);
  if (isPosterMade) await deps.media.put(posterKey, posterPath);
  const isKept = staged.posterKey !== undefined && !isPosterMade;
  await deps.media.move([
    ...(isKept ? [{ from: staged.posterKey, to: posterKey }] : []),
    { from: staged.key, to: videoKey },
  ]);
  // The delivered poster was invalid.
  if (staged.posterKey !== undefined && isPosterMade) await deps.media.delete(staged.posterKey);
  deps.taskEvents.stage('store', performance.now() - startedAt);
  return { videoKey, posterKey, ...measured };
}

/**
 * Stores a video with the poster that came with it straight under their final keys, when they may stay as they are: nothing is left
 * for `storeResult` then. Undefined for all others, which are staged: it judges them, and waits for a store that fails.
 */
export async function storeDelivered(
  { media, taskEvents }: ActivityDeps,
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
    taskEvents.stage('store', performance.now() - startedAt);
    return { videoKey, posterKey, ...measured };
  } catch {
    return undefined;
  }
}

/** Far more than a JPEG of 720p needs; a larger file is no poster, and is not copied. */
const maxPosterBytes = 4 * 1024 * 1024;

/** The path, when a file is there that may be a poster. */
export async function usablePoster(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const file = await stat(path).catch(() => undefined);
  return file?.isFile() === true && file.size <= maxPosterBytes ? path : undefined;
}

/**
 * The keys come from a history, into which an operator may write anything. Another task's video must not be moved, and a key
 * that does not exist must not be retried for a day.
 */
function requireOwn(taskId: string, staged: StagedVideo | null | undefined): void {
  const own = mediaKeysOf(taskId);
  const isOwnPoster = staged?.posterKey === undefined || staged.posterKey === own.stagedPoster;
  if (staged?.key === own.staged && isOwnPoster) return;
  const cause = new Error(`not the staging keys of task ${taskId}: ${JSON.stringify(staged)}`);
  throw new TaskError('result_invalid', 'The generated video is not that of this task.', { cause });
}

/** From its staging key, or from its final key when an earlier attempt has moved it and its answer was lost. */
async function fetchFirst({ media }: ActivityDeps, keys: readonly string[], filePath: string): Promise<boolean> {
  for (const key of keys) if (await media.fetchTo(key, filePath)) return true;
  return false;
}

/** The path of the poster that came with the video, if one did. */
async function fetchPoster(
  deps: ActivityDeps,
  [stagedKey, finalKey]: readonly [staged: string | undefined, final: string],
  filePath: string,
): Promise<string | undefined> {
  if (stagedKey === undefined) return undefined;
  return (await fetchFirst(deps, [stagedKey, finalKey], filePath)) ? filePath : undefined;
}
