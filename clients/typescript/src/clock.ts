/** Time and chance, so that a test need not wait for either. */
export type Clock = {
  /** Unix milliseconds. */
  now(): number;
  /** Ends after so long, or throws the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1. */
  random(): number;
};

export const systemClock: Clock = { now: () => Date.now(), sleep, random: () => Math.random() };

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const wake = () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    const giveUp = () => {
      clearTimeout(timer);
      // A signal's reason may be anything its owner chose, and is passed on as it is.
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}

/** Twice as long at each turn (counted from 1) up to `maxMs`, less up to half by chance, so that a crowd comes apart. */
export function backoffMs(turn: number, firstMs: number, maxMs: number, { random }: Pick<Clock, 'random'>): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(turn - 1, 30)) * (1 - random() / 2);
}
