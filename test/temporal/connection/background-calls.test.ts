import { ServiceError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackgroundCalls } from '../../../src/temporal/connection/background-calls.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The error of the client while Temporal is unreachable. */
function unavailable(): ServiceError {
  const cause = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: 'no connection', metadata: {} });
  return new ServiceError('Failed to start Workflow', { cause });
}

/** Nothing waits for a real Temporal server here. */
const limits = { probePauseMs: 1 };
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('while Temporal is unavailable eight calls are retried, the others wait untried, and all are made afterwards', async () => {
  let isUnavailable = true;
  let tries = 0;
  const begun: number[] = [];
  const failed: number[] = [];
  const calls = createBackgroundCalls<number>(
    async (task) => {
      tries += 1;
      if (isUnavailable) throw unavailable();
      begun.push(task);
    },
    (_error, task) => failed.push(task),
    limits,
  );
  for (const task of numbers(200)) calls.call(task);
  await waitFor('repeated tries', () => (tries >= 35 ? true : undefined));
  assert.deepEqual([...failed], numbers(8), 'each reported once');
  isUnavailable = false;
  await waitFor('all starts', () => (begun.length === 200 ? true : undefined));
  assert.deepEqual(
    begun.toSorted((a, b) => a - b),
    numbers(200),
  );
  assert.deepEqual(
    begun.filter((task) => task >= 8),
    numbers(200).slice(8),
    'in order of arrival',
  );
  assert.equal(failed.length, 8, 'only tasks that were tried are reported');
});

test('a call that Temporal rejects is not retried and delays no other one', async () => {
  const begun: number[] = [];
  const failed: unknown[] = [];
  const rejection = new Error('3 INVALID_ARGUMENT');
  const calls = createBackgroundCalls<number>(
    async (task) => {
      if (task % 2 === 0) throw rejection;
      begun.push(task);
    },
    (error, task) => failed.push([error, task]),
  );
  for (const task of numbers(100)) calls.call(task);
  await calls.drain(180_000);
  assert.deepEqual([begun.length, failed.length, failed[1]], [50, 50, [rejection, 2]]);
});

test('a process that drains while Temporal is unavailable makes no further calls, which would fail, and ends', async () => {
  const tried = new Map<number, number>();
  const calls = createBackgroundCalls<number>(
    async (task) => {
      tried.set(task, (tried.get(task) ?? 0) + 1);
      throw unavailable();
    },
    () => {},
    limits,
  );
  for (const task of numbers(50)) calls.call(task);
  let isDrained = false;
  // Its limit is far beyond the wait.
  void calls.drain(60 * 60_000).then(() => (isDrained = true));
  await waitFor('the end of the drain', () => (isDrained ? true : undefined));
  assert.deepEqual([...tried.keys()], numbers(8));
});

test('calls that do not fit into memory are dropped', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = 0;
  const calls = createBackgroundCalls<number>(
    async () => {
      await held;
      begun += 1;
    },
    () => {},
  );
  for (const task of numbers(10_100)) calls.call(task);
  release();
  await calls.drain(180_000);
  assert.equal(begun, 10_008, 'ten thousand waiting and those that were running');
});
