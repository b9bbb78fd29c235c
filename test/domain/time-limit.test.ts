import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withinMs } from '../../src/domain/time-limit.ts';

const never = new Promise<never>(() => {});
const minute = 60_000;

test('work that ends in time gives its own result, or its own error', async () => {
  assert.equal(await withinMs(minute, Promise.resolve('done'), assert.fail), 'done');
  assert.equal(await withinMs(minute, Promise.resolve(undefined), assert.fail), undefined);
  await assert.rejects(withinMs(minute, Promise.reject(new Error('broken')), assert.fail), /broken/);
});

test('work that takes longer gives what `onLate` returns or throws', async () => {
  assert.equal(await withinMs(1, never, () => 'late'), 'late');
  const refuse = () => {
    throw new Error('no answer');
  };
  await assert.rejects(withinMs(1, never, refuse), /no answer/);
});

test('work that fails after the limit is no unhandled rejection', async () => {
  let fail: (error: Error) => void = assert.fail;
  const work = new Promise<never>((_resolve, reject) => (fail = reject));
  assert.equal(await withinMs(1, work, () => 'late'), 'late');
  fail(new Error('too late to matter'));
  // Node ends the process for a rejection that is unhandled when this turn of the event loop ends.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
});

test('no timer is left over that would keep the process running', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await withinMs(minute, Promise.resolve(), assert.fail);
  await withinMs(minute, Promise.reject(new Error('broken')), assert.fail).catch(() => {});
  assert.equal(timers(), before);
});
