import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { HttpError, toHttpError } from '../errors.ts';
import type { Caller } from '../../accounts/api-key.ts';
import { type Rate, rateLeft, type RateLeft } from '../../platform/rate-limit.ts';
import { rateHeaders, refusalHeaders } from './rate-headers.ts';

/**
 * Beyond this number, the least recently active caller is dropped and has its
 * full quota again.
 */
const maxKeys = 100_000;

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** A rate per caller, in the memory of this process. */
export function createRateLimiter(rate: Rate, now: () => number = () => performance.now()) {
  const dueAt = new LRUCache<string, number>({ max: maxKeys });
  const intervalMs = rate.windowMs / rate.quota;
  const peek = (key: string) => rateLeft(rate, (dueAt.get(key) ?? -Infinity) - now());
  return {
    rate,
    peek,
    /** Counts an event if it is allowed; returns the rest after it. */
    take: (key: string): RateLeft & { readonly isAllowed: boolean } => {
      const isAllowed = peek(key).remaining > 0;
      if (isAllowed) dueAt.set(key, Math.max(dueAt.get(key) ?? -Infinity, now()) + intervalMs);
      return { ...peek(key), isAllowed };
    },
  };
}

/** People have their own rate, so that open pages do not use up the rate of the account's programs. */
export function rateKeyOf({ by, accountId }: Caller): string {
  return by.kind === 'key' ? accountId : by.userId;
}

export function limitReads(ctx: Context, reads: RateLimiter | undefined, who: string): void {
  if (reads === undefined) return;
  const taken = reads.take(who);
  if (!taken.isAllowed) {
    throw new HttpError('rate_limited', { headers: refusalHeaders('reads', reads.rate, taken, Math.random()) });
  }
  ctx.set(rateHeaders('reads', reads.rate, taken));
}

/** Limits sign-ins by address, because each takes a shared slot, and failed passkeys are logged permanently. */
export function limitSignIns({ state }: Context, signIns: RateLimiter): void {
  const taken = signIns.take(state.clientAddress);
  if (taken.isAllowed) return;
  throw new HttpError('too_many_sign_ins', { headers: refusalHeaders('sign-ins', signIns.rate, taken) });
}

/** Refuses a caller who has tried too many invalid redemption codes, because requests could guess codes. */
export function limitCodeAttempts(codeAttempts: RateLimiter, who: string): void {
  const left = codeAttempts.peek(who);
  if (left.remaining > 0) return;
  throw new HttpError('too_many_code_attempts', { headers: refusalHeaders('codes', codeAttempts.rate, left) });
}

/** Counts refused creates, except 429s, and refuses all creates of a caller with too many. */
export async function limitRefusals<T>(
  limiter: RateLimiter | undefined,
  caller: Caller,
  create: () => Promise<T>,
): Promise<T> {
  if (limiter === undefined) return create();
  const who = rateKeyOf(caller);
  const left = limiter.peek(who);
  if (left.remaining === 0) {
    const headers = refusalHeaders('refused-creates', limiter.rate, left, Math.random());
    const msg = 'too many of your creates were refused; retry later';
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

/** Limits invalid keys by address; a recently valid key always passes. Takes the hash of a key. */
export function createBadKeys(limiter: RateLimiter | undefined) {
  const good = new LRUCache<string, true>({ max: maxGoodKeys, ttl: goodForMs });
  return {
    refuse: ({ state }: Context, hash: string): void => {
      if (limiter === undefined || good.has(hash)) return;
      const left = limiter.peek(state.clientAddress);
      if (left.remaining > 0) return;
      throw new HttpError('too_many_bad_keys', { headers: refusalHeaders('bad-keys', limiter.rate, left) });
    },
    record: ({ state }: Context, hash: string, isGood: boolean): void => {
      if (isGood) good.set(hash, true);
      else {
        good.delete(hash);
        limiter?.take(state.clientAddress);
      }
    },
  };
}
