export type Deadline = {
  readonly signal: AbortSignal;
  /** Releases the timer; the signal is not aborted any more. */
  stop(): void;
};

/** Aborts the signal after `leftMs`, or before it returns when no time is left. */
export type StartDeadline = (leftMs: number) => Deadline;

export const startDeadline: StartDeadline = (leftMs) => {
  const passed = new AbortController();
  const pass = () => passed.abort();
  if (leftMs <= 0) pass();
  const timer = setTimeout(pass, leftMs);
  return { signal: passed.signal, stop: () => clearTimeout(timer) };
};
