import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startRepeating } from '../../../src/platform/timing/repeat.ts';
import { untilTurn } from '../../support/until-turn.ts';
import { mockTimers } from '../../support/mock-timers.ts';

test('work runs after each pause, and never after the end', async (t) => {
  mockTimers(t, { apis: ['setTimeout'] });
  let runs = 0;
  const repeating = startRepeating(1_000, () => {
    runs += 1;
    return Promise.resolve();
  });
  for (const expected of [1, 2, 3]) {
    t.mock.timers.tick(999);
    await nextTurn();
    assert.equal(runs, expected - 1);
    t.mock.timers.tick(1);
    await untilTurn('the run', () => runs === expected);
    await nextTurn();
  }
  await repeating.close();
  t.mock.timers.tick(10_000);
  await nextTurn();
  assert.equal(runs, 3);
});

test('the end aborts a run in progress, and waits for it', async (t) => {
  mockTimers(t, { apis: ['setTimeout'] });
  let finish: (() => void) | undefined;
  let stopped: AbortSignal | undefined;
  const repeating = startRepeating(1_000, (signal) => {
    stopped = signal;
    return new Promise<void>((resolve) => (finish = resolve));
  });
  t.mock.timers.tick(1_000);
  await untilTurn('the run', () => finish !== undefined);
  assert.equal(stopped?.aborted, false);
  let isClosed = false;
  const closing = repeating.close().then(() => (isClosed = true));
  await nextTurn();
  assert.deepEqual([stopped.aborted, isClosed], [true, false]);
  finish?.();
  await closing;
});
