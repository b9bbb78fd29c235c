import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  callbackSlotBackoffMs,
  pauseObeyingRetryAfter,
  callbackPausesMs,
} from '../../../src/tasks/callbacks/callback-schedule.ts';

const hourMs = 60 * 60_000;

test('ten attempts lie in about three days, each pause longer than the one before', () => {
  assert.equal(callbackPausesMs.length, 10);
  assert.equal(callbackPausesMs[0], 0);
  assert.deepEqual(
    callbackPausesMs.toSorted((a, b) => a - b),
    callbackPausesMs,
  );
  const total = callbackPausesMs.reduce((sum, pauseMs) => sum + pauseMs, 0);
  assert.ok(total > 72 * hourMs && total < 78 * hourMs, `${total / hourMs} h`);
});

test('Retry-After lengthens a pause, never shortens it, and never beyond a day', () => {
  assert.equal(pauseObeyingRetryAfter(5_000, undefined), 5_000);
  assert.equal(pauseObeyingRetryAfter(5_000, 7_000), 7_000);
  assert.equal(pauseObeyingRetryAfter(5_000, 1_000), 5_000);
  assert.equal(pauseObeyingRetryAfter(5_000, 999_999_999_000), 24 * hourMs);
  for (const [asked, pause] of [
    [14_000, 14_000],
    [15_001, 15_000],
  ] as const)
    assert.equal(
      pauseObeyingRetryAfter(24 * hourMs, 24 * hourMs + asked),
      24 * hourMs + pause,
      'and the attempt before it',
    );
});

test('an attempt without a slot steps back for longer each time, up to five minutes, and not in step with others', () => {
  assert.deepEqual(
    [1, 2, 3, 9, 10, 1_000].map((turn) => callbackSlotBackoffMs(turn, 0.5)),
    [1_000, 2_000, 4_000, 256_000, 300_000, 300_000],
  );
  assert.deepEqual([callbackSlotBackoffMs(1, 0), callbackSlotBackoffMs(1, 1)], [500, 1_500]);
});
