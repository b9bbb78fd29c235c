import { LRUCache } from 'lru-cache';
import { type Rate, rateLeft, type RateLeft } from '../domain/rate-limit.ts';

/** A rate for each of many callers, in the memory of this process. */
export type RateLimiter = {
  readonly rate: Rate;
  /** Counts an event when there is room for it, and tells what is left after it. */
  take(key: string): RateLeft & { readonly isAllowed: boolean };
  /** What is left, counting nothing. */
  look(key: string): RateLeft;
};

/** Callers that are remembered; of more than these, the one that was quiet for longest starts afresh. */
const maxKeys = 100_000;

export function createRateLimiter(rate: Rate, now: () => number = () => performance.now()): RateLimiter {
  const dueAt = new LRUCache<string, number>({ max: maxKeys });
  const intervalMs = rate.windowMs / rate.quota;
  const look = (key: string) => rateLeft(rate, (dueAt.get(key) ?? -Infinity) - now());
  return {
    rate,
    look,
    take: (key) => {
      const before = look(key);
      if (before.remaining === 0) return { ...before, isAllowed: false };
      dueAt.set(key, Math.max(dueAt.get(key) ?? -Infinity, now()) + intervalMs);
      return { ...look(key), isAllowed: true };
    },
  };
}
