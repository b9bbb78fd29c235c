import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import type { Ffmpeg } from '../domain/ports.ts';
import { TaskFault } from '../domain/errors.ts';
import { FfmpegError } from './ffmpeg.ts';
import { isPosterOf, makePoster } from './poster.ts';
import { probeVideo, type VideoFacts, VideoFileError } from './probe-video.ts';

export type VideoInspection = {
  readonly videoPath: string;
  /** The poster that came with the video, if one did; it may turn out to be invalid. */
  readonly deliveredPoster: string | undefined;
  /** Where a poster is written when one has to be made. */
  readonly posterPath: string;
  readonly signal: AbortSignal;
};

/** `isPosterMade` is false when the delivered poster is good; then nothing was written. */
export type InspectedVideo = { readonly measured: VideoFacts; readonly isPosterMade: boolean };

export type VideoInspector = (inspection: VideoInspection) => Promise<InspectedVideo>;

/**
 * Checks that a generated video plays and measures it; a bad one is a `TaskFault`, `result_invalid`. The delivered poster is kept
 * when it is a JPEG of the video's size; otherwise one is made, which decodes the video and costs a tenth of a second.
 */
export function createVideoInspector(ffmpeg: Ffmpeg): VideoInspector {
  // A poster is all CPU: running more of them than there are cores ends no sooner, and delays everything else.
  const limited = pLimit(availableParallelism());
  return async ({ videoPath, deliveredPoster, posterPath, signal }) => {
    try {
      const measured = await probeVideo(videoPath);
      if (deliveredPoster !== undefined && (await isPosterOf(deliveredPoster, measured)))
        return { measured, isPosterMade: false };
      const { durationSeconds } = measured;
      await limited(() => makePoster(ffmpeg, videoPath, posterPath, { durationSeconds, signal }));
      return { measured, isPosterMade: true };
    } catch (cause) {
      if (!isFaultOfFile(cause)) throw cause;
      throw new TaskFault('result_invalid', 'The provider delivered a file that is not a playable video.', { cause });
    }
  };
}

/** An ffmpeg that was not started, was killed or made no progress is a fault of this machine, not of the file. */
function isFaultOfFile(error: unknown): boolean {
  if (error instanceof VideoFileError) return true;
  return error instanceof FfmpegError && error.failure.exitCode !== null && !error.failure.stalled;
}
