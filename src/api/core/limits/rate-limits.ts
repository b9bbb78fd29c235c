import { LRUCache } from 'lru-cache';
import type { Context } from '../request-context-and-responses.ts';
import { HttpError } from '../http-error.ts';
import type { Caller } from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import { type Rate, rateLeft, type RateLeft } from '../../../platform/timing/parse-rate-and-rate-left.ts';
import { rateHeaders, refusalHeaders } from './rate-headers.ts';

/** Allows for passkeys, whose sign-in takes two requests, and for the people of an office, who share one address. */
const signInRate = { quota: 30, windowMs: 60_000 };
const sharePageRate = { quota: 60, windowMs: 60_000 };
const providerTestRate = { quota: 5, windowMs: 60_000 };
const codeRate = { quota: 10, windowMs: 60 * 60_000 };

/** The limits that no setting changes. */
export function createFixedRateLimiters() {
  return {
    signIns: createRateLimiter(signInRate),
    /** Limits the pages of share links that an address reads. */
    sharePages: createRateLimiter(sharePageRate),
    providerTests: createRateLimiter(providerTestRate),
    /** Limits invalid redemption codes of a person. */
    codeAttempts: createRateLimiter(codeRate),
  };
}

/** Beyond this number, the least recently active caller is dropped and has its full quota again. */
const maxKeys = 100_000;

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** A rate per caller, in the memory of this process. */
export function createRateLimiter(rate: Rate, now: () => number = () => performance.now()) {
  const dueAt = new LRUCache<string, number>({ max: maxKeys });
  const intervalMs = rate.windowMs / rate.quota;
  const peek = (key: string) => rateLeft(rate, (dueAt.get(key) ?? -Infinity) - now());
  return {
    rate,
    running: createRunning(),
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
export function rateLimitKeyOfCaller({ by, accountId }: Caller): string {
  return by.kind === 'key' ? accountId : by.userId;
}

export function limitOtherRequests(ctx: Context, reads: RateLimiter | undefined, who: string): void {
  if (reads === undefined) return;
  const taken = reads.take(who);
  if (!taken.isAllowed) {
    throw new HttpError('rate_limited', { headers: refusalHeaders('reads', reads.rate, taken, Math.random()) });
  }
  ctx.set(rateHeaders('reads', reads.rate, taken));
}

/** Limits sign-ins by address, because each takes a shared slot, and failed passkeys are logged permanently. */
export function limitSignIns({ state }: Context, signIns: RateLimiter): void {
  const taken = signIns.take(state.clientAddress());
  if (taken.isAllowed) return;
  throw new HttpError('too_many_sign_ins', { headers: refusalHeaders('sign-ins', signIns.rate, taken) });
}

type Attempt = {
  readonly who: string;
  readonly refusal: (left: RateLeft) => HttpError;
  /** True if the attempt needs no room. It may become true while the attempt waits. */
  readonly isExempt?: () => boolean;
};

/** Every attempt must end, as soon as it cannot fail any more. `fail` counts it and ends it; only the first end has an effect. */
type RunningAttempt = { readonly fail: () => void; readonly end: () => void };

const unlimited: RunningAttempt = { fail: () => {}, end: () => {} };

/**
 * Starts an attempt. Limits failures exactly, also of attempts that run at the same time: a caller has as many running attempts as it has
 * failures left. Further ones wait, so a caller whose attempts succeed is never refused.
 */
async function startAttempt(limiter: RateLimiter, attempt: Attempt): Promise<RunningAttempt> {
  const { who, refusal, isExempt = () => false } = attempt;
  for (let left = limiter.peek(who); !isExempt(); left = limiter.peek(who)) {
    if (left.remaining === 0) throw refusal(left);
    if (limiter.running.count(who) < left.remaining) break;
    await limiter.running.nextEnd(who);
  }
  const end = limiter.running.begin(who);
  const fail = () => {
    limiter.take(who);
    end();
  };
  return { fail, end };
}

/** Attempts that have neither failed nor passed. */
function createRunning() {
  const running = new Map<string, { count: number; wake: () => void; ended: Promise<void> }>();
  const renew = (count: number) => {
    const { promise, resolve } = withResolver();
    return { count, wake: resolve, ended: promise };
  };
  return {
    count: (who: string): number => running.get(who)?.count ?? 0,
    nextEnd: (who: string): Promise<void> => running.get(who)?.ended ?? Promise.resolve(),
    /** Returns a function that ends the attempt; only its first call counts. */
    begin: (who: string): (() => void) => {
      const entry = running.get(who) ?? renew(0);
      running.set(who, { ...entry, count: entry.count + 1 });
      let hasEnded = false;
      return () => {
        const current = running.get(who);
        if (hasEnded || current === undefined) return;
        hasEnded = true;
        if (current.count === 1) running.delete(who);
        else running.set(who, renew(current.count - 1));
        current.wake();
      };
    },
  };
}

/** `Promise.withResolvers` needs Node 22. */
function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

/** Limits the invalid redemption codes of a caller, because requests could guess codes. `isInvalid`: the attempt counts. */
export async function limitCodeAttempts<T>(
  codeAttempts: RateLimiter,
  who: string,
  { check, isInvalid }: { readonly check: () => Promise<T>; readonly isInvalid: (outcome: T) => boolean },
): Promise<T> {
  const attempt = await startAttempt(codeAttempts, {
    who,
    refusal: (left) =>
      new HttpError('too_many_code_attempts', { headers: refusalHeaders('codes', codeAttempts.rate, left) }),
  });
  try {
    const outcome = await check();
    if (isInvalid(outcome)) attempt.fail();
    return outcome;
  } finally {
    attempt.end();
  }
}

/** Counts a create as refused until it has been accepted (`state.endCreateAttempt`) or ends; throws if too many of its caller were refused. */
export async function limitRefusedCreates(
  { state }: Context,
  limiter: RateLimiter | undefined,
  caller: Caller,
): Promise<RunningAttempt> {
  if (limiter === undefined) return unlimited;
  const attempt = await startAttempt(limiter, {
    who: rateLimitKeyOfCaller(caller),
    refusal: (left) => {
      const headers = refusalHeaders('refused-creates', limiter.rate, left, Math.random());
      const msg = 'too many of your creates were refused; retry later';
      return new HttpError('too_many_refused_creates', { headers, ...(caller.by.kind === 'person' && { msg }) });
    },
  });
  state.endCreateAttempt = attempt.end;
  return attempt;
}

const maxGoodKeys = 10_000;
const goodForMs = 10 * 60_000;

export type BadKeyLimiter = {
  /** True for a key that was found lately. It needs no room. Here and below, a key is given by its hash. */
  readonly isGood: (hash: string) => boolean;
  readonly addGood: (hash: string) => void;
  /** Starts the lookup of another key; throws if the address sent too many invalid ones. The lookup fails if there is no such key. */
  readonly startLookup: (ctx: Context, hash: string) => Promise<RunningAttempt>;
};

/** Limits invalid keys by address; a recently valid key always passes. */
export function createBadKeyLimiter(limiter: RateLimiter | undefined): BadKeyLimiter {
  if (limiter === undefined) {
    return { isGood: () => false, addGood: () => {}, startLookup: () => Promise.resolve(unlimited) };
  }
  const good = new LRUCache<string, true>({ max: maxGoodKeys, ttl: goodForMs });
  return {
    isGood: (hash) => good.has(hash),
    addGood: (hash) => void good.set(hash, true),
    startLookup: ({ state }, hash) => {
      // A good key that was revoked counts from now on.
      good.delete(hash);
      return startAttempt(limiter, {
        who: state.clientAddress(),
        isExempt: () => good.has(hash),
        refusal: (left) =>
          new HttpError('too_many_bad_keys', { headers: refusalHeaders('bad-keys', limiter.rate, left) }),
      });
    },
  };
}
