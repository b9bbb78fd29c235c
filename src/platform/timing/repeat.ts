import { setTimeout as pause } from 'node:timers/promises';

/** Runs `work`, which never rejects, after each pause until the signal is aborted. Does not keep the process alive. */
export async function repeatUntilAborted(
  pauseMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    await pause(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    await work();
  }
}

/** Repeats `work` until `close` is called, which aborts the signal and waits for a run in progress. */
export function startRepeating(pauseMs: number, work: (signal: AbortSignal) => Promise<void>) {
  const stopping = new AbortController();
  const repeating = repeatUntilAborted(pauseMs, stopping.signal, () => work(stopping.signal));
  return {
    close: async (): Promise<void> => {
      stopping.abort();
      await repeating;
    },
  };
}
