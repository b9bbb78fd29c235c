import { backoffMs } from './clock.ts';
import type { CallOptions, Transport } from './transport.ts';
import { VideogenError } from './videogen-error.ts';

const firstPauseMs = 500;
const maxPauseMs = 8_000;

/** The service is left alone for as long as it asks to be; when that is longer than this, the caller decides. */
const maxObeyedSeconds = 60;

/**
 * Repeats an attempt that failed with something passing, at most `maxTries` times altogether. A pause is at least what
 * `Retry-After` asks for, and grows from half a second to eight.
 */
export async function withRetries<T>(
  { maxTries, clock, onRetry }: Pick<Transport, 'maxTries' | 'clock' | 'onRetry'>,
  { signal }: CallOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries >= maxTries || !isWorthRepeating(error)) throw error;
      const backoff = backoffMs(tries, firstPauseMs, maxPauseMs, clock);
      const pauseMs = Math.max(backoff, 1000 * (error.retryAfterSeconds ?? 0));
      onRetry?.({ error, pauseMs });
      await clock.sleep(pauseMs, signal);
    }
  }
}

function isWorthRepeating(error: unknown): error is VideogenError {
  return error instanceof VideogenError && error.isPassing && (error.retryAfterSeconds ?? 0) <= maxObeyedSeconds;
}
