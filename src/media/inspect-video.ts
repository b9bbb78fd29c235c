import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { TaskFault } from '../domain/errors.ts';
import type { TaskResult } from '../domain/task.ts';
import { FfmpegError } from './ffmpeg-error.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { isPosterOf } from './is-poster-of.ts';
import { makePoster } from './poster.ts';
import { probeVideo } from './probe-video.ts';
import { VideoFileError } from './video-file-error.ts';

export type InspectionOrder = {
  readonly videoPath: string;
  /** The poster that came with the video, if one did; it may turn out to be none. */
  readonly deliveredPoster: string | undefined;
  /** Where a poster is written that has to be made. */
  readonly posterPath: string;
  readonly signal: AbortSignal;
};

export type InspectedVideo = {
  readonly measured: Omit<TaskResult, 'videoKey' | 'posterKey'>;
  /** False when the delivered one is good; then nothing was written. */
  readonly isPosterMade: boolean;
};

/**
 * Checks that a generated video plays and measures it; a bad one is a `TaskFault`, `result_invalid`. The delivered poster is kept
 * when it is a JPEG of the video's size; otherwise one is made, which decodes the video and costs a tenth of a second.
 */
export function createVideoInspector(ffmpeg: Ffmpeg) {
  // A poster is all CPU: more of them at once than cores end no sooner, and hold up everything else meanwhile.
  const inTurn = pLimit(availableParallelism());
  return async ({ videoPath, deliveredPoster, posterPath, signal }: InspectionOrder): Promise<InspectedVideo> => {
    try {
      const { frames: _, ...measured } = await probeVideo(videoPath);
      if (deliveredPoster !== undefined && (await isPosterOf(deliveredPoster, measured)))
        return { measured, isPosterMade: false };
      const { durationSeconds } = measured;
      await inTurn(() => makePoster(ffmpeg, videoPath, posterPath, { durationSeconds, signal }));
      return { measured, isPosterMade: true };
    } catch (cause) {
      if (!isFaultOfFile(cause)) throw cause;
      throw new TaskFault('result_invalid', 'The provider delivered a file that is not a playable video.', { cause });
    }
  };
}

/** An ffmpeg that was killed or made no progress says something about this machine, nothing about the file. */
function isFaultOfFile(error: unknown): boolean {
  if (error instanceof VideoFileError) return true;
  return error instanceof FfmpegError && error.failure.killedBy === null && !error.failure.stalled;
}
