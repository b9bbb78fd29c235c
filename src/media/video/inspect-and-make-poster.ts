import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { TaskError } from '../../catalogue/tasks/task-error.ts';
import { isCausedByDisk, FfmpegError, hasTooMuchOutput } from '../ffmpeg/ffmpeg.ts';
import { makeLastFrame } from '../ffmpeg/last-frame.ts';
import { isPosterSizedJpeg, makePoster } from '../ffmpeg/poster.ts';
import { checkAndMeasureVideo, type VideoFacts } from './check-and-measure-video.ts';
import { VideoFileError } from './video-file-error.ts';

type VideoInspection = {
  readonly videoPath: string;
  /** The poster that came with the video, if one did; it may turn out to be invalid. */
  readonly deliveredPoster: string | undefined;
  readonly posterPath: string;
  readonly lastFramePath?: string | undefined;
  readonly signal: AbortSignal;
};

export type VideoInspector = ReturnType<typeof createVideoInspector>;

/** Measures a video and its poster that may stay as they are; undefined for others, which `VideoInspector` judges. */
export async function measureVideoIfPosterFits(videoPath: string, posterPath: string): Promise<VideoFacts | undefined> {
  const measured = await checkAndMeasureVideo(videoPath);
  return (await isPosterSizedJpeg(posterPath, measured)) ? measured : undefined;
}

/**
 * Checks that a generated video plays and measures it; an invalid one is a `TaskError`, `result_invalid`. A delivered poster is used if it
 * is a JPEG of the right size; otherwise one is made, and `isPosterMade` is true. The last frame is made where it is needed.
 */
export function createVideoInspector(ffmpeg: FfmpegRunner) {
  // A poster is all CPU: running more of them than there are cores ends no sooner, and delays everything else.
  const limited = pLimit(availableParallelism());
  return ({ videoPath, deliveredPoster, posterPath, lastFramePath, signal }: VideoInspection) =>
    withVideoErrorsAsTaskErrors(async () => {
      const measured = await checkAndMeasureVideo(videoPath, signal);
      if (lastFramePath !== undefined)
        await limited(() => makeLastFrame(ffmpeg, videoPath, lastFramePath, { ...measured, signal }));
      if (deliveredPoster !== undefined && (await isPosterSizedJpeg(deliveredPoster, measured)))
        return { measured, isPosterMade: false };
      await limited(() => makePoster(ffmpeg, videoPath, posterPath, { ...measured, signal }));
      return { measured, isPosterMade: true };
    });
}

/** Converts errors that the file caused to a `TaskError`; other errors are thrown unchanged, and may be retried. */
export async function withVideoErrorsAsTaskErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isCausedByFile(cause)) throw cause;
    throw new TaskError('result_invalid', 'The provider delivered a file that is not a playable video.', { cause });
  }
}

/** If ffmpeg was not started, was killed, made no progress or filled the disk, this machine is the cause, not the file. */
function isCausedByFile(error: unknown): boolean {
  if (error instanceof VideoFileError) return true;
  if (!(error instanceof FfmpegError)) return false;
  if (hasTooMuchOutput(error)) return true;
  const { exitCode, stalled } = error.failure;
  return exitCode !== null && !stalled && !isCausedByDisk(error);
}
