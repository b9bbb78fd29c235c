import { ServiceError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTaskStarter } from '../../src/temporal/task-starter.ts';
import { waitFor } from '../support/wait-for.ts';

/** What the client throws while Temporal cannot be reached. */
function unavailable(): ServiceError {
  const cause = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: 'no connection', metadata: {} });
  return new ServiceError('Failed to start Workflow', { cause });
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('while Temporal is unavailable only one task is tried at a time, and all start in order of arrival afterwards', async () => {
  let isUnavailable = true;
  let trying = 0;
  const tries: number[] = [];
  const begun: number[] = [];
  const failed = new Set<number>();
  const starter = createTaskStarter<number>(
    async (task) => {
      trying += 1;
      tries.push(trying);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      trying -= 1;
      if (isUnavailable) throw unavailable();
      begun.push(task);
    },
    (_error, task) => failed.add(task),
  );
  for (const task of numbers(200)) starter.start(task);
  await waitFor('the first probes', () => (tries.length >= 35 ? true : undefined));
  assert.deepEqual(
    tries.slice(33),
    tries.slice(33).map(() => 1),
  );
  isUnavailable = false;
  await waitFor('all starts', () => (begun.length === 200 ? true : undefined));
  assert.deepEqual(begun, numbers(200));
  assert.ok(failed.size <= 33, 'only tasks that were tried are reported');
});

test('a start that Temporal refuses is not retried and delays no other start', async () => {
  const begun: number[] = [];
  const failed: number[] = [];
  const starter = createTaskStarter<number>(
    async (task) => {
      if (task % 2 === 0) throw new Error('3 INVALID_ARGUMENT');
      begun.push(task);
    },
    (_error, task) => failed.push(task),
  );
  for (const task of numbers(100)) starter.start(task);
  await starter.drain(180_000);
  assert.deepEqual([begun.length, failed.length], [50, 50]);
});

test('a process that drains while Temporal is unavailable tries each waiting task once more and then ends', async () => {
  const starter = createTaskStarter<number>(
    () => Promise.reject(unavailable()),
    () => {},
  );
  for (const task of numbers(50)) starter.start(task);
  const began = performance.now();
  await starter.drain(180_000);
  assert.ok(performance.now() - began < 120_000);
});

test('what does not fit into memory is left to reconcile', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = 0;
  const starter = createTaskStarter<number>(
    async () => {
      await held;
      begun += 1;
    },
    () => {},
  );
  for (const task of numbers(10_100)) starter.start(task);
  release();
  await starter.drain(180_000);
  assert.equal(begun, 10_008, 'ten thousand waiting and those that were running');
});
