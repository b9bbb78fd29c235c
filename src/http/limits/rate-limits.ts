import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { HttpError, toHttpError } from '../errors.ts';
import type { Caller } from '../../domain/api-key.ts';
import { type Rate, rateLeft, type RateLeft } from '../../domain/rate-limit.ts';
import { hashApiKey } from '../../stores/key-format.ts';
import { rateHeaders, refusalHeaders } from './rate-headers.ts';

/** Of more callers, the one that was quiet for longest starts afresh. */
const maxKeys = 100_000;

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** A rate for each of many callers, in the memory of this process. */
export function createRateLimiter(rate: Rate, now: () => number = () => performance.now()) {
  const dueAt = new LRUCache<string, number>({ max: maxKeys });
  const intervalMs = rate.windowMs / rate.quota;
  const peek = (key: string) => rateLeft(rate, (dueAt.get(key) ?? -Infinity) - now());
  return {
    rate,
    /** What is left, counting nothing. */
    peek,
    /** Counts an event when there is room for it; answers what is left after it. */
    take: (key: string): RateLeft & { readonly isAllowed: boolean } => {
      const isAllowed = peek(key).remaining > 0;
      if (isAllowed) dueAt.set(key, Math.max(dueAt.get(key) ?? -Infinity, now()) + intervalMs);
      return { ...peek(key), isAllowed };
    },
  };
}

/**
 * Whose requests are counted together: the account's, but each person's own, so that open pages do not use up what is there for
 * programs, and no member stops the others.
 */
export function countedFor({ by, accountId }: Caller): string {
  return by.kind === 'key' ? accountId : by.userId;
}

/** Limits everything that creates no task, per process: exact limits are for what costs money. */
export function limitReads(ctx: Context, reads: RateLimiter | undefined, who: string): void {
  if (reads === undefined) return;
  const taken = reads.take(who);
  if (!taken.isAllowed) {
    throw new HttpError('rate_limited', { headers: refusalHeaders('reads', reads.rate, taken) });
  }
  ctx.set(rateHeaders('reads', reads.rate, taken));
}

/**
 * Limits those who are not known yet, by address: what they begin takes one of the places that all of them share, and a passkey that
 * fails is logged for good.
 */
export function limitSignIns({ state }: Context, signIns: RateLimiter): void {
  const taken = signIns.take(state.clientAddress);
  if (taken.isAllowed) return;
  throw new HttpError('too_many_sign_ins', { headers: refusalHeaders('sign-ins', signIns.rate, taken, () => 0) });
}

/** Counts creates that are refused, but not by a limit (429), and refuses all while there were too many. */
export async function limitRefusals<T>(
  limiter: RateLimiter | undefined,
  caller: Caller,
  create: () => Promise<T>,
): Promise<T> {
  if (limiter === undefined) return create();
  const who = countedFor(caller);
  const left = limiter.peek(who);
  if (left.remaining === 0) {
    const headers = refusalHeaders('refused-creates', limiter.rate, left);
    const msg = 'too many of your creates were refused; try again later';
    throw new HttpError('too_many_refused_creates', { headers, ...(caller.by.kind === 'person' && { msg }) });
  }
  try {
    return await create();
  } catch (error) {
    const { code: status } = toHttpError(error).envelope;
    if (status < 500 && status !== 429) limiter.take(who);
    throw error;
  }
}

const maxGoodKeys = 10_000;
const goodForMs = 10 * 60_000;

export type BadKeys = ReturnType<typeof createBadKeys>;

/** Limits the trying of keys by address; a key that was good lately passes. Takes keys as `hashOf` makes them. */
export function createBadKeys(limiter: RateLimiter | undefined) {
  const good = new LRUCache<string, true>({ max: maxGoodKeys, ttl: goodForMs });
  return {
    refuse: ({ state }: Context, hash: string): void => {
      if (limiter === undefined || good.has(hash)) return;
      const left = limiter.peek(state.clientAddress);
      if (left.remaining > 0) return;
      throw new HttpError('too_many_bad_keys', { headers: refusalHeaders('bad-keys', limiter.rate, left, () => 0) });
    },
    /** Counts the outcome of a look-up in the database. */
    record: ({ state }: Context, hash: string, isGood: boolean): void => {
      if (isGood) good.set(hash, true);
      else {
        good.delete(hash);
        limiter?.take(state.clientAddress);
      }
    },
  };
}

/** A key as it is held in memory: never in plain form, which a core dump or a heap snapshot would show. */
export function hashOf(key: string): string {
  return hashApiKey(key).toString('base64');
}
