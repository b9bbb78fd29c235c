import { ServiceError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { pino } from 'pino';
import type { WorkflowEngine } from '../../../src/catalogue/tasks/workflow-engine.ts';
import { owedDeliveryIds } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { createBackgroundCalls, createBackgroundEngineCalls } from '../../../src/temporal/engine/background-calls.ts';
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
  calls.call(200);
  await calls.drain(180_000);
  assert.equal(begun.at(-1), 200, 'a drain after the outage makes the calls that wait');
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
  calls.call(0);
  await calls.drain(180_000);
  assert.equal(begun, 10_009, 'calls that have ended take no room');
});

test('a drain ends at its limit while a call has no response', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const calls = createBackgroundCalls<number>(
    () => new Promise(() => {}),
    () => {},
  );
  calls.call(1);
  let isOver = false;
  const drained = calls.drain(1_000).then(() => (isOver = true));
  t.mock.timers.tick(999);
  await new Promise(setImmediate);
  assert.equal(isOver, false);
  t.mock.timers.tick(1);
  await drained;
});

const engineMethods = [
  'startTask',
  'cancelWorkflow',
  'testProvider',
  'retryNow',
  'startDelivery',
  'redeliver',
] as const satisfies readonly (keyof WorkflowEngine)[];

/** An engine that notes its calls and gives this answer. */
function engineOf(calls: unknown[], answer: () => unknown) {
  const methods = engineMethods.map((name) => [
    name,
    async (input: unknown) => {
      calls.push([name, input]);
      return answer();
    },
  ]);
  return Object.fromEntries(methods) as WorkflowEngine; // All that these calls use of an engine.
}

test('a cancelled task without a workflow has its deliveries started, and one with a workflow only ends that', async () => {
  const task = { taskId: randomUUID(), accountId: 'alice', hasCallback: true, hasEvent: true };
  const cancelled = ['cancelWorkflow', task.taskId];
  const started = owedDeliveryIds(task.taskId, task).map((deliveryId) => [
    'startDelivery',
    { deliveryId, accountId: 'alice' },
  ]);
  assert.equal(started.length, 2);
  for (const [hasWorkflow, expected] of [
    [true, [cancelled]],
    [false, [cancelled, ...started]],
  ] as const) {
    const calls: unknown[] = [];
    const { calls: ports, drain } = createBackgroundEngineCalls(
      engineOf(calls, () => hasWorkflow),
      pino({ level: 'silent' }),
    );
    ports.stopTask(task);
    await drain(180_000);
    assert.deepEqual(calls, expected);
  }
});

test('a call to Temporal that fails is logged with what it was about, and a provider is then not tested', async () => {
  const lines: string[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
  const calls: unknown[] = [];
  const engine = engineOf(calls, () => Promise.reject(new Error('a test')));
  const { calls: ports, drain } = createBackgroundEngineCalls(engine, log);
  const [taskId, accountId, deliveryId] = ['t', 'a', 'd'];
  ports.startTask({ taskId, accountId, model: 'm' });
  ports.stopTask({ taskId, accountId, hasCallback: true });
  ports.retryTask({ taskId });
  ports.redeliver({ deliveryId, accountId });
  assert.deepEqual(await ports.testProvider('fal'), { outcome: 'no_worker' });
  await drain(180_000);
  const called = { startTask: { taskId, accountId, model: 'm' }, cancelWorkflow: taskId, retryNow: taskId };
  assert.deepEqual(Object.fromEntries(calls as [string, unknown][]), {
    ...called,
    redeliver: { deliveryId, accountId },
    testProvider: 'fal',
  });
  const said = lines.map((line) => JSON.parse(line) as { level: number; err: { message: string }; msg: string });
  assert.deepEqual(
    said
      .map(({ err, msg, ...fields }) => ({ ...fields, message: err.message, msg }))
      .toSorted((a, b) => (a.msg < b.msg ? -1 : 1)),
    [
      { deliveryId, accountId, msg: 'callback redelivery deferred to reconcile' },
      { provider: 'fal', msg: 'provider not tested' },
      { taskId, msg: 'task retry not sent yet; repeated while Temporal is unavailable' },
      {
        taskId,
        accountId,
        hasCallback: true,
        msg: 'workflow not cancelled yet; retried while Temporal is unavailable',
      },
      { taskId, accountId, model: 'm', msg: 'workflow start deferred; reconcile will start it' },
    ].map(({ msg, ...fields }) => ({ level: 40, ...fields, message: 'a test', msg })),
  );
});
