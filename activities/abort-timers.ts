export type Deadline = {
  readonly signal: AbortSignal;
  /** Releases the timer; the signal is not aborted any more. */
  stop(): void;
};

/** Aborts the signal after `leftMs`. If no time is left, the signal is aborted before it is returned. */
export type StartDeadline = (leftMs: number) => Deadline;

export const startDeadline: StartDeadline = (leftMs) => {
  const passed = new AbortController();
  const pass = () => passed.abort();
  if (leftMs <= 0) pass();
  const timer = setTimeout(pass, leftMs);
  return { signal: passed.signal, stop: () => clearTimeout(timer) };
};

/** Returns a signal that aborts `ms` after another one, so that work in flight can end. */
export function delayAbort(signal: AbortSignal, ms: number, start: StartDeadline): Deadline {
  const late = new AbortController();
  let grace: Deadline | undefined;
  const onAbort = () => {
    grace = start(ms);
    grace.signal.addEventListener('abort', () => late.abort(signal.reason), { once: true });
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: late.signal,
    stop: () => {
      signal.removeEventListener('abort', onAbort);
      grace?.stop();
    },
  };
}
