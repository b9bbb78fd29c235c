/** One run of ffmpeg. There is no shell: `args` reach it one by one, as they are. */
export type FfmpegRun = {
  /** All but the global options, which the runner adds. */
  readonly args: readonly string[];
  /** Relative paths in `args` start here. */
  readonly cwd: string;
  /** Aborting kills the child; the run then rejects with the signal's reason, after the child has ended. */
  readonly signal: AbortSignal;
  /** The longest time without another frame; a child that stalls is killed. */
  readonly stallMs?: number;
  /** The longest time of the whole run; unlimited by default. */
  readonly limitMs?: number;
  /** Takes the number of frames written so far, about twice a second. */
  readonly onFrame?: (frames: number) => void;
};

/** Runs ffmpeg to its end. Rejects with `FfmpegError` when it fails, and with the signal's reason when aborted. */
export type FfmpegRunner = (run: FfmpegRun) => Promise<void>;
