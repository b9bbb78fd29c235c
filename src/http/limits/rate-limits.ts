import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { errorAnswerOf, HttpError } from '../errors.ts';
import type { Caller } from '../../domain/api-key.ts';
import { type Rate, rateLeft, type RateLeft } from '../../domain/rate-limit.ts';

/** A rate for each of many callers, in the memory of this process. */
export type RateLimiter = {
  readonly rate: Rate;
  /** Counts an event when there is room for it; answers what is left after it. */
  take(key: string): RateLeft & { readonly isAllowed: boolean };
  /** What is left, counting nothing. */
  peek(key: string): RateLeft;
};

/** Callers that are remembered; of more than these, the one that was quiet for longest starts afresh. */
const maxKeys = 100_000;

export function createRateLimiter(rate: Rate, now: () => number = () => performance.now()): RateLimiter {
  const dueAt = new LRUCache<string, number>({ max: maxKeys });
  const intervalMs = rate.windowMs / rate.quota;
  const peek = (key: string) => rateLeft(rate, (dueAt.get(key) ?? -Infinity) - now());
  return {
    rate,
    peek,
    take: (key) => {
      const before = peek(key);
      if (before.remaining === 0) return { ...before, isAllowed: false };
      dueAt.set(key, Math.max(dueAt.get(key) ?? -Infinity, now()) + intervalMs);
      return { ...peek(key), isAllowed: true };
    },
  };
}

type Policy = 'creates' | 'refused-creates' | 'reads' | 'bad-keys';

/** For the description of an endpoint under a rate. */
export const rateAnswerHeaders = {
  'RateLimit-Policy': 'The limit: `q` requests in `w` seconds.',
  RateLimit: 'What is left: `r` requests now; one more in `t` seconds.',
};

/** The fields of draft-ietf-httpapi-ratelimit-headers-10: `t` is the time in which no more than `r` should be sent. */
export function rateHeaders(policy: Policy, { quota, windowMs }: Rate, left: RateLeft) {
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${Math.ceil(windowMs / 1000)}`,
    RateLimit: `"${policy}";r=${left.remaining};t=${left.nextSeconds}`,
  };
}

/** Of the window, so that the clients of one account do not all come back in the second in which there is room for one. */
const maxJitter = 0.5;

/** Those of a refusal. `Retry-After` is the time until there is room, and a random part of the window unless `random` is 0. */
export function refusalHeaders(policy: Policy, rate: Rate, left: RateLeft, random: () => number = Math.random) {
  const jitterSeconds = Math.floor((random() * maxJitter * rate.windowMs) / 1000);
  return { ...rateHeaders(policy, rate, left), 'Retry-After': String(left.nextSeconds + jitterSeconds) };
}

/** Limits everything that creates no task, per account and process: exact limits are for what costs money. */
export function limitReads(ctx: Context, reads: RateLimiter | undefined, { accountId }: Caller): void {
  if (reads === undefined) return;
  const taken = reads.take(accountId);
  if (!taken.isAllowed) {
    throw new HttpError('rate_limited', { headers: refusalHeaders('reads', reads.rate, taken) });
  }
  ctx.set(rateHeaders('reads', reads.rate, taken));
}

/**
 * Counts the creates of an account that are refused for what they ask, such as 402 and 422, and refuses all of them while
 * there were too many. Accepted and replayed creates do not count, nor do those that another limit has refused.
 */
export async function limitRefusals<T>(
  limiter: RateLimiter | undefined,
  { accountId }: Caller,
  create: () => Promise<T>,
): Promise<T> {
  if (limiter === undefined) return create();
  const left = limiter.peek(accountId);
  if (left.remaining === 0) {
    throw new HttpError('too_many_refused_creates', { headers: refusalHeaders('refused-creates', limiter.rate, left) });
  }
  try {
    return await create();
  } catch (error) {
    if (isClientsFault(error)) limiter.take(accountId);
    throw error;
  }
}

function isClientsFault(error: unknown): boolean {
  if (!(error instanceof HttpError)) return false;
  const { status } = errorAnswerOf(error.code);
  return status >= 400 && status < 500 && status !== 429;
}
