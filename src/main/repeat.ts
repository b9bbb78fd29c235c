import { setTimeout as pause } from 'node:timers/promises';

/** Runs `work`, which never rejects, until the signal, with a pause after each run. Does not keep the process alive. */
export async function repeat(pauseMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await pause(pauseMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
