import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millisecondsOfUnit, parseRate, rateLeft } from '../../../src/platform/timing/parse-rate-and-rate-left.ts';

const rate = { quota: 20, windowMs: 10_000 };

for (const [dueInMs, remaining, nextSeconds] of [
  [-Infinity, 20, 1],
  [-5_000, 20, 1],
  [0, 20, 1],
  [500, 19, 1],
  [9_500, 1, 1],
  [9_501, 0, 1],
  [10_000, 0, 1],
  [10_500, 0, 1],
  [10_501, 0, 2],
  [15_000, 0, 6],
] as const) {
  test(`with the next create due in ${dueInMs} ms, ${remaining} are left and another comes in ${nextSeconds} s`, () => {
    const left = rateLeft(rate, dueInMs);
    assert.deepEqual([left.remaining, left.nextSeconds], [remaining, nextSeconds]);
  });
}

test('a burst of the whole quota fits, and not one more, also where the interval is no round number', () => {
  for (const quota of [1, 3, 7, 11, 999]) {
    const odd = { quota, windowMs: 10_000 };
    let due = 0;
    let taken = 0;
    while (rateLeft(odd, due).remaining > 0) {
      due += odd.windowMs / quota;
      taken += 1;
    }
    assert.equal(taken, quota);
  }
});

test('who waits as long as it is told finds room, at whatever moment it was refused', () => {
  for (const { quota, windowMs } of [rate, { quota: 3, windowMs: 1_000 }, { quota: 1, windowMs: 7_000 }]) {
    for (let dueInMs = 0; dueInMs <= 3 * windowMs; dueInMs += 37) {
      const { remaining, nextSeconds } = rateLeft({ quota, windowMs }, dueInMs);
      const later = rateLeft({ quota, windowMs }, dueInMs - nextSeconds * 1000);
      assert.ok(later.remaining > 0 && later.remaining >= Math.min(quota, remaining + 1), `${quota} ${dueInMs}`);
    }
  }
});

test('rates are read as they are written; anything else is refused', () => {
  assert.deepEqual(parseRate('20/10s'), rate);
  assert.deepEqual(parseRate('5/2m'), { quota: 5, windowMs: 120_000 });
  assert.deepEqual(parseRate('1/1h'), { quota: 1, windowMs: 3_600_000 });
  assert.equal(parseRate('off'), undefined);
  for (const text of ['', '0/10s', '20/0s', '20', '20/10', '-1/1s', '1.5/1s', '20 / 10s', '20/10d', 'OFF']) {
    assert.throws(() => parseRate(text), /must be a rate such as 20\/10s, or off/, text);
  }
});

test('a unit of a duration has its milliseconds', () => {
  assert.deepEqual(millisecondsOfUnit, { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 });
});
