import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfter } from '../../../src/platform/outbound/retry-after.ts';

const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
const atMs = Date.parse(date);

for (const [header, nowMs, expected] of [
  [undefined, 0, undefined],
  ['0', 0, 0],
  ['120', 0, 120_000],
  ['1234567890', 0, undefined],
  ['-5', 0, undefined],
  ['1.5', 0, undefined],
  ['', 0, undefined],
  ['soon', 0, undefined],
  [date, atMs - 3_000, 3_000],
  [date, atMs, 0],
  [date, atMs + 3_000, 0],
  ['1994-11-06', atMs - 3_000, undefined],
  ['Sun, 40 Nov 1994 08:49:37 GMT', atMs - 3_000, undefined],
] as const) {
  test(`Retry-After: ${header} at ${nowMs} means ${expected} ms`, () =>
    assert.equal(parseRetryAfter(header, nowMs), expected));
}
