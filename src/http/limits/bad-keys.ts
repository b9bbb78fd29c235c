import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import { addressOf } from '../client-address.ts';
import { HttpError } from '../errors.ts';
import { refusalHeaders } from './rate-headers.ts';
import type { RateLimiter } from './rate-limits.ts';
import { hashApiKey } from '../../stores/key-format.ts';

const maxGoodKeys = 10_000;
const goodForMs = 10 * 60_000;

export type BadKeys = ReturnType<typeof createBadKeys>;

/** Limits the trying of keys by address. Keys that were valid lately are not held up by a bad neighbour. */
export function createBadKeys(limiter: RateLimiter | undefined) {
  const good = new LRUCache<string, true>({ max: maxGoodKeys, ttl: goodForMs });
  return {
    /** Throws `too_many_bad_keys` when this address has tried too many bad keys and this one was not good lately. */
    refuse: (req: IncomingMessage, key: string): void => {
      if (limiter === undefined || good.has(hashOf(key))) return;
      const left = limiter.peek(addressOf(req));
      if (left.remaining > 0) return;
      throw new HttpError('too_many_bad_keys', { headers: refusalHeaders('bad-keys', limiter.rate, left, () => 0) });
    },
    /** Counts the outcome of a look-up in the database. */
    record: (req: IncomingMessage, key: string, isGood: boolean): void => {
      if (isGood) good.set(hashOf(key), true);
      else {
        good.delete(hashOf(key));
        limiter?.take(addressOf(req));
      }
    },
  };
}

/** A key as it is held in memory: never in plain form, which a core dump or a heap snapshot would show. */
export function hashOf(key: string): string {
  return hashApiKey(key).toString('base64');
}
