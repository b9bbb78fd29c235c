import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPromisedPlaces } from '../../src/http/promised-places.ts';
import { createRateLimiter } from '../../src/http/rate-limiter.ts';
import type { Rate } from '../../src/domain/rate.ts';

// The in-memory limiter stands for the statement that accepts tasks: both take GCRA from src/domain/rate.ts.

const rates = fc.record({ quota: fc.integer({ min: 1, max: 60 }), windowMs: fc.integer({ min: 50, max: 60_000 }) });

/**
 * Clients of one account, each of which begins at its time and obeys. All share one limiter; each asks a process of its own
 * when there are several, which know nothing of each other's promises. Answers how often each was refused.
 */
function refusals(rate: Rate, beginsAtMs: readonly number[], processes = 1): readonly number[] {
  let now = 0;
  const limiter = createRateLimiter(rate, () => now);
  const places = Array.from({ length: processes }, () => createPromisedPlaces(() => now));
  const clients = beginsAtMs.map((atMs, index) => ({ atMs, refused: 0, places: places[index % processes] }));
  const waiting = new Set(clients);
  while (waiting.size > 0) {
    const next = [...waiting].reduce((first, client) => (client.atMs < first.atMs ? client : first));
    now = next.atMs;
    const left = limiter.look('a');
    if (limiter.take('a').isAllowed) waiting.delete(next);
    else {
      next.refused += 1;
      next.atMs += 1000 * (next.places?.next('a', rate, left) ?? NaN);
    }
  }
  return clients.map(({ refused }) => refused);
}

test('one client of an account, whatever its pattern, is never refused twice in a row, nor kept a second too long', () => {
  fc.assert(
    fc.property(rates, fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 }), (rate, pausesMs) => {
      let now = 0;
      const limiter = createRateLimiter(rate, () => now);
      for (const pauseMs of pausesMs) {
        now += pauseMs;
        const taken = limiter.take('a');
        if (taken.isAllowed) continue;
        assert.ok(taken.retrySeconds * 1000 < Math.max(taken.nextInMs, 1) + 1000);
        now += taken.retrySeconds * 1000;
        assert.ok(limiter.take('a').isAllowed);
      }
    }),
  );
});

test('as many clients as two quotas, all at once, are refused once at most', () => {
  fc.assert(
    fc.property(rates, (rate) => {
      const counts = refusals(
        rate,
        Array.from({ length: 2 * rate.quota }, () => 0),
      );
      assert.ok(Math.max(...counts) <= 1, counts.join());
    }),
  );
});

test('of clients that come at any time, a new one can take the place of another: less than two refusals for each', () => {
  const begins = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(rates, begins, (rate, beginsAtMs) => {
      fc.pre(beginsAtMs.length <= 2 * rate.quota);
      const counts = refusals(rate, beginsAtMs);
      const total = counts.reduce((sum, count) => sum + count, 0);
      assert.ok(total < 2 * counts.length, counts.join());
    }),
  );
});

// When all are told the same, the last of them is refused 90 times.
test('of a crowd of ten quotas nobody is refused more than 10 times by one process, and 20 times by four', () => {
  const rate = { quota: 20, windowMs: 10_000 };
  const crowd = Array.from({ length: 200 }, () => 0);
  for (const [processes, most] of [
    [1, 10],
    [4, 20],
  ] as const) {
    const counts = refusals(rate, crowd, processes);
    assert.ok(Math.max(...counts) <= most, `${processes}: ${Math.max(...counts)}`);
  }
});

test('whoever does not wait is not promised the whole future', () => {
  const rate = { quota: 20, windowMs: 10_000 };
  const limiter = createRateLimiter(rate, () => 0);
  const waits = Array.from({ length: 1_000 }, () => limiter.take('a')).map((taken) =>
    taken.isAllowed ? 0 : taken.retrySeconds,
  );
  assert.equal(Math.max(...waits), 10);
  assert.ok(limiter.take('b').isAllowed);
});
