export type FfmpegFailure = {
  /** Null when a signal ended it or it never started. */
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  /** Killed, because it made no progress. */
  readonly stalled: boolean;
  /** The end of what it wrote to standard error; may name files, so it belongs in the log only. */
  readonly stderr: string;
  readonly cause?: unknown;
};

/** ffmpeg did not finish its work. */
export class FfmpegError extends Error {
  override readonly name = 'FfmpegError';
  readonly failure: FfmpegFailure;

  constructor(failure: FfmpegFailure) {
    super(`ffmpeg ${howItEnded(failure)}${failure.stderr && `: ${failure.stderr}`}`, { cause: failure.cause });
    this.failure = failure;
  }
}

function howItEnded(failure: FfmpegFailure): string {
  if (failure.stalled) return 'made no progress and was killed';
  if (failure.killedBy !== null) return `was killed by ${failure.killedBy}`;
  return failure.exitCode === null ? 'could not be started' : `ended with exit code ${failure.exitCode}`;
}
