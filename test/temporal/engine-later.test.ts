import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiEngine } from '../../src/temporal/api-engine.ts';
import { engineLater } from '../../src/temporal/engine-later.ts';

const task = { taskId: 'a', accountId: 'b', model: 'c' };

function recorded(calls: string[]): ApiEngine {
  const noted = (name: string) => () => Promise.resolve(void calls.push(name));
  return {
    startTask: () => Promise.resolve(calls.push('startTask') > 0),
    cancelTask: noted('cancelTask'),
    startDelivery: noted('startDelivery'),
    redeliver: noted('redeliver'),
    progressOf: () => Promise.resolve(42),
    close: noted('close'),
  };
}

test('what is asked of an engine at once loads it once', async () => {
  const calls: string[] = [];
  let loads = 0;
  const engine = engineLater(() => {
    loads += 1;
    return Promise.resolve(recorded(calls));
  });
  await Promise.all([engine.open(), engine.startTask(task), engine.redeliver(task)]);
  await engine.close();
  assert.deepEqual([loads, calls], [1, ['startTask', 'redeliver', 'close']]);
});

test('an engine that nobody needed is closed without being loaded', async () => {
  await engineLater(() => Promise.reject(new Error('was loaded'))).close();
});

test('loading that fails fails that call alone, and costs a poller nothing but the figure', async () => {
  let tries = 0;
  const engine = engineLater(() => {
    tries += 1;
    return tries < 3 ? Promise.reject(new Error('no file handles left')) : Promise.resolve(recorded([]));
  });
  const polled = { taskId: 'a', state: 'generating' } as const;
  await assert.rejects(engine.startTask(task), /no file handles/);
  assert.equal(await engine.progressOf(polled), 0);
  assert.equal(await engine.progressOf(polled), 42);
});
