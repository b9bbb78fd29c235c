import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { TaskFault } from '../domain/task-fault.ts';
import type { TaskResult } from '../domain/task.ts';
import { FfmpegError } from './ffmpeg-error.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { makePoster } from './poster.ts';
import { probeVideo } from './probe-video.ts';
import { VideoFileError } from './video-file-error.ts';

/** Checks that a generated video plays, measures it and writes its poster. A bad one is a `TaskFault`, `result_invalid`. */
export function createVideoInspector(ffmpeg: Ffmpeg) {
  // A poster is all CPU: more of them at once than cores end no sooner, and hold up everything else meanwhile.
  const inTurn = pLimit(availableParallelism());
  return async (
    videoPath: string,
    posterPath: string,
    signal: AbortSignal,
  ): Promise<Omit<TaskResult, 'videoKey' | 'posterKey'>> => {
    try {
      const { frames: _, ...measured } = await probeVideo(videoPath);
      const { durationSeconds } = measured;
      await inTurn(() => makePoster(ffmpeg, videoPath, posterPath, { durationSeconds, signal }));
      return measured;
    } catch (cause) {
      if (!isFaultOfFile(cause)) throw cause;
      throw new TaskFault('result_invalid', 'The provider delivered a file that is not a playable video.', { cause });
    }
  };
}

/** An ffmpeg that was killed or ran out of time says something about this machine, nothing about the file. */
function isFaultOfFile(error: unknown): boolean {
  if (error instanceof VideoFileError) return true;
  return error instanceof FfmpegError && error.failure.killedBy === null && !error.failure.timedOut;
}
