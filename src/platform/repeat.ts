import { setTimeout as pause } from 'node:timers/promises';

/**
 * Runs `work`, which never rejects, after each pause until the signal is
 * aborted. Does not keep the process alive.
 */
export async function repeat(pauseMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (;;) {
    await pause(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    await work();
  }
}
