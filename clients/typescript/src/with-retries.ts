import { backoffMs } from './clock.ts';
import type { CallOptions, Transport } from './transport.ts';
import { VideogenError } from './videogen-error.ts';

const firstPauseMs = 500;
const maxPauseMs = 8_000;

/** A `Retry-After` longer than this is left to the caller. */
const maxObeyedSeconds = 60;

/**
 * Repeats an attempt that failed temporarily, up to `maxTries` attempts. A pause is at least the value of `Retry-After`,
 * and grows from half a second to eight.
 */
export async function withRetries<T>(
  { defaults, clock }: Pick<Transport, 'defaults' | 'clock'>,
  { signal, maxTries = defaults.maxTries, onRetry = defaults.onRetry }: CallOptions,
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
