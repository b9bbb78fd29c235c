/** What this provider asks of a renderer; the media room's `Ffmpeg` is one. Rejects when ffmpeg fails or is aborted. */
export type RunFfmpeg = (run: {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Read by ffmpeg as `pipe:0`. */
  readonly input?: AsyncIterable<Uint8Array>;
  readonly onFrame?: (frames: number) => void;
}) => Promise<void>;
