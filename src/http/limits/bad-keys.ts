import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import { addressOf } from '../client-address.ts';
import { HttpError } from '../errors.ts';
import { refusalHeaders } from './rate-headers.ts';
import type { RateLimiter } from './rate-limits.ts';
import type { RateLeft } from '../../domain/rate-limit.ts';
import { hashApiKey } from '../../stores/key-format.ts';

/** Limits the trying of keys by address. Keys that were valid lately are not held up by a bad neighbour. */
export type BadKeys = {
  /** Throws `too_many_bad_keys` when this address has tried too many bad keys and this one was not good lately. */
  refuse(req: IncomingMessage, key: string): void;
  /** Counts the outcome of a look-up in the database. */
  record(req: IncomingMessage, key: string, isGood: boolean): void;
};

const maxGoodKeys = 10_000;
const goodForMs = 10 * 60_000;

export function createBadKeys(limiter: RateLimiter | undefined): BadKeys {
  const good = new LRUCache<string, true>({ max: maxGoodKeys, ttl: goodForMs });
  return {
    refuse: (req, key) => {
      if (limiter === undefined || good.has(hashOf(key))) return;
      const left = limiter.peek(addressOf(req));
      if (left.remaining === 0) throw refusal(limiter, left);
    },
    record: (req, key, isGood) => {
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

function refusal({ rate }: RateLimiter, left: RateLeft): HttpError {
  return new HttpError('too_many_bad_keys', { headers: refusalHeaders('bad-keys', rate, left, () => 0) });
}
