import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedSeconds } from '../../../src/catalogue/prices/counted-seconds.ts';

test('a video up to half a second from a length counts as that length, and half a second between two as the longer', () => {
  const counted = [0, 0.49, 0.5, 4, 4.49, 4.5, 5, 5.49, 5.5].map((seconds) =>
    countedSeconds({ durationSeconds: seconds }),
  );
  assert.deepEqual(counted, [0, 0, 1, 4, 4, 5, 5, 5, 6]);
});
