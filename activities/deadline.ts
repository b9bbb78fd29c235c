export type Deadline = {
  readonly signal: AbortSignal;
  /** Releases the timer; the signal is not aborted any more. */
  stop(): void;
};

/** Aborts the signal with `reason` after `leftMs`, or before it returns when no time is left. */
export type StartDeadline = (leftMs: number, reason: Error) => Deadline;

export const startDeadline: StartDeadline = (leftMs, reason) => {
  const passed = new AbortController();
  const pass = () => passed.abort(reason);
  if (leftMs <= 0) pass();
  const timer = setTimeout(pass, leftMs);
  return { signal: passed.signal, stop: () => clearTimeout(timer) };
};
