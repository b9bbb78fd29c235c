import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../../../src/api/core/request-context-and-responses.ts';
import { refusalHeaders } from '../../../../src/api/core/limits/rate-headers.ts';
import { HttpError } from '../../../../src/api/core/http-error.ts';
import {
  createBadKeyLimiter,
  createFixedRateLimiters,
  createRateLimiter,
  limitCodeAttempts,
  limitOtherRequests,
  limitSignIns,
  rateLimitKeyOfCaller,
} from '../../../../src/api/core/limits/rate-limits.ts';

test('each caller has its own quota, and gets it back evenly', () => {
  let now = 1_000_000;
  const limiter = createRateLimiter({ quota: 4, windowMs: 1_000 }, () => now);
  const taken = (key: string) => limiter.take(key).isAllowed;
  assert.deepEqual([taken('a'), taken('a'), taken('a'), taken('a'), taken('a')], [true, true, true, true, false]);
  assert.equal(taken('b'), true);
  now += 250;
  assert.deepEqual([taken('a'), taken('a')], [true, false]);
  now += 10_000;
  assert.equal(limiter.peek('a').remaining, 4, 'and never more than the quota');
});

test('a refused event and a mere look cost nothing', () => {
  let now = 0;
  const limiter = createRateLimiter({ quota: 1, windowMs: 1_000 }, () => now);
  limiter.take('a');
  for (let i = 0; i < 100; i += 1) {
    limiter.take('a');
    limiter.peek('a');
  }
  now = 1_000;
  assert.equal(limiter.take('a').isAllowed, true);
});

test('Retry-After is the time until there is room, and for programs up to half a window more, so that not all come back together', () => {
  const rate = { quota: 1, windowMs: 10_000 };
  const limiter = createRateLimiter(rate, () => 0);
  limiter.take('a');
  const left = limiter.peek('a');
  const retryAfter = (jitter?: number) => refusalHeaders('reads', rate, left, jitter)['Retry-After'];
  assert.deepEqual([undefined, 0, 0.5, 0.999].map(retryAfter), ['10', '10', '12', '14']);
  const { 'RateLimit-Policy': policy } = refusalHeaders('reads', { quota: 3, windowMs: 1_001 }, left);
  assert.equal(policy, '"reads";q=3;w=2', 'a window is never shown shorter than it is');
  const seen = new Set(
    Array.from({ length: 200 }, () => retryAfterOf(() => limitOtherRequests({} as Context, limiter, 'a'))),
  );
  assert.deepEqual(seen, new Set(['10', '11', '12', '13', '14']));
});

function retryAfterOf(refuse: () => void): string | undefined {
  try {
    refuse();
  } catch (error) {
    assert.ok(error instanceof HttpError);
    return error.headers['Retry-After'];
  }
  return assert.fail('the request was not refused');
}

const isInvalid = (outcome: string) => outcome === 'invalid';

test('of attempts at the same time, exactly as many fail as the rate allows, and none that succeeds is refused', async () => {
  const limiter = createRateLimiter({ quota: 10, windowMs: 3_600_000 }, () => 0);
  let checked = 0;
  const attempt = (outcome: string) =>
    limitCodeAttempts(limiter, 'a', {
      isInvalid,
      check: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        checked += 1;
        return outcome;
      },
    });
  const valid = await Promise.all(Array.from({ length: 200 }, () => attempt('valid')));
  assert.ok(valid.every((outcome) => outcome === 'valid'));
  checked = 0;
  const invalid = await Promise.allSettled(Array.from({ length: 200 }, () => attempt('invalid')));
  assert.equal(checked, 10);
  assert.equal(invalid.filter(({ status }) => status === 'rejected').length, 190);
  await assert.rejects(attempt('valid'), HttpError);
});

test('an attempt that ends with an error does not count', async () => {
  const limiter = createRateLimiter({ quota: 1, windowMs: 3_600_000 }, () => 0);
  for (const _ of [1, 2, 3]) {
    const check = () => Promise.reject(new Error('the database is unavailable'));
    await assert.rejects(limitCodeAttempts(limiter, 'a', { check, isInvalid }), /unavailable/);
  }
  assert.equal(await limitCodeAttempts(limiter, 'a', { check: () => Promise.resolve('valid'), isInvalid }), 'valid');
});

test('sign-ins, pages of share links, provider tests and invalid codes have rates that no setting changes', () => {
  const rates = Object.entries(createFixedRateLimiters()).map(([name, { rate }]) => [name, rate.quota, rate.windowMs]);
  assert.deepEqual(rates, [
    ['signIns', 30, 60_000],
    ['sharePages', 60, 60_000],
    ['providerTests', 5, 60_000],
    ['codeAttempts', 10, 3_600_000],
  ]);
});

test('a key counts for its account, a person for themselves, and a sign-in for its address', () => {
  const caller = { accountId: 'account', scopes: [], suspended: false, dialect: 'native' } as const;
  assert.equal(rateLimitKeyOfCaller({ ...caller, by: { kind: 'key', keyId: 'key' } }), 'account');
  assert.equal(
    rateLimitKeyOfCaller({ ...caller, by: { kind: 'person', userId: 'user', email: '', isRecent: true } }),
    'user',
  );
  const limiter = createRateLimiter({ quota: 1, windowMs: 60_000 }, () => 0);
  // The part of a context that the function reads.
  const from = (address: string) => ({ state: { clientAddress: () => address } }) as unknown as Context;
  limitSignIns(from('192.0.2.1'), limiter);
  limitSignIns(from('192.0.2.2'), limiter);
  assert.equal(
    retryAfterOf(() => limitSignIns(from('192.0.2.1'), limiter)),
    '60',
  );
});

test('a key that is found good while it waits passes, and one that was good is counted when it is looked up again', async () => {
  const badKeys = createBadKeyLimiter(createRateLimiter({ quota: 1, windowMs: 60_000 }, () => 0));
  // The part of a context that the function reads.
  const from = (address: string) => ({ state: { clientAddress: () => address } }) as unknown as Context;
  const here = from('192.0.2.1');
  const first = await badKeys.startLookup(here, 'bad');
  const waiting = badKeys.startLookup(here, 'other');
  badKeys.addGood('other');
  first.fail();
  (await waiting).end();
  assert.deepEqual(['other', 'bad'].map(badKeys.isGood), [true, false]);
  await assert.rejects(
    badKeys.startLookup(here, 'other'),
    (error) => error instanceof HttpError && error.headers['RateLimit-Policy'] === '"bad-keys";q=1;w=60',
  );
  assert.equal(badKeys.isGood('other'), false);
  (await badKeys.startLookup(from('192.0.2.2'), 'other')).end();
});
