/**
 * The time and the random numbers of a client. Tests replace them, so that they
 * need not wait.
 */
export type Clock = {
  /** Unix milliseconds. */
  now(): number;
  /**
   * Resolves after `ms`, or throws the signal's reason as soon as the signal is
   * aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a number from 0 to below 1. */
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
      // The reason of a signal may be any value, and is passed on unchanged.
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}

/**
 * Doubles the pause at each turn (counted from 1) up to `maxMs`, and subtracts
 * up to half at random, so that many clients do not retry at the same time.
 */
export function backoffMs(turn: number, firstMs: number, maxMs: number, { random }: Pick<Clock, 'random'>): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(turn - 1, 30)) * (1 - random() / 2);
}
