import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryPace, retryPauseAfter } from '../../src/tasks/step-retry-pause.ts';

test('the pause after each attempt is twice as long as the one before, from a second to half a minute', () => {
  assert.deepEqual(retryPace, { firstMs: 1_000, maxMs: 30_000 });
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 100].map((attempt) => retryPauseAfter(attempt)),
    [1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
  );
});
