import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CallbackAttempt, CallbackOrder } from '../../activities/send-callback.ts';
import { callbackPausesMs } from '../../src/domain/callback.ts';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { startTimeSkipping } from '../support/time-skipping.ts';

// The workflow is the real one and so are its timers; the clock is the test server's, and the activity is played.
const environment = await startTimeSkipping();
const options = { skip: environment === undefined && 'the time-skipping test server is not to be had here' };
after(() => environment?.teardown());

const workflowBundle = { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) };
const [second, minute, hour] = [1, 60, 3_600] as const;
const delivery = { taskId: '019abc12-3456-7def-8901-234567890abc', accountId: 'alice' };

/** The played activity: what the n-th attempt comes to, n counting from 1. It may ask for a redelivery meanwhile. */
type Receiver = (attempt: number, redeliver: () => Promise<void>) => CallbackAttempt | Promise<CallbackAttempt>;

type Delivering = {
  readonly environment: TestWorkflowEnvironment;
  readonly orders: readonly CallbackOrder[];
  /** Seconds from the first attempt to each, rounded. */
  readonly times: () => readonly number[];
  readonly result: () => Promise<string>;
  readonly redeliver: () => Promise<void>;
};

/** Starts a delivery, with workers of its own, and gives it to `use`. */
async function withDelivery(
  receiver: Receiver,
  use: (delivering: Delivering) => Promise<void>,
  firstAttempt?: CallbackAttempt,
): Promise<void> {
  assert.ok(environment);
  const { client, nativeConnection: connection } = environment;
  const queues = taskQueuesOf(`test-${randomUUID()}`);
  const workflowId = randomUUID();
  const redeliver = () => client.workflow.getHandle(workflowId).signal('redeliver');
  const orders: CallbackOrder[] = [];
  const atMs: number[] = [];
  const sendCallback = async (order: CallbackOrder) => {
    orders.push(order);
    atMs.push(await environment.currentTimeMs());
    return receiver(orders.length, redeliver);
  };
  const workers = await Promise.all([
    Worker.create({ connection, taskQueue: queues.main, workflowBundle }),
    Worker.create({ connection, taskQueue: queues.callbacks, activities: { sendCallback } }),
  ]);
  const runs = workers.map((worker) => worker.run());
  try {
    const start = { workflowId, taskQueue: queues.main, args: [{ ...delivery, firstAttempt }] };
    // What the task itself has done counts as the first attempt.
    if (firstAttempt !== undefined) atMs.push(await environment.currentTimeMs());
    const handle = await client.workflow.start('deliverCallback', start);
    await use({
      environment,
      orders,
      times: () => atMs.map((ms) => Math.round((ms - (atMs[0] ?? 0)) / 1_000)),
      result: async () => String(await handle.result()),
      redeliver,
    });
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  }
}

const failed = (retryAfterMs?: number): CallbackAttempt => ({ kind: 'failed', retryAfterMs });
const delivered: CallbackAttempt = { kind: 'delivered' };

/** Skipped time is exact; a second may pass in real life on the way. */
function assertTimes(actual: readonly number[], expected: readonly number[]): void {
  const isNear = actual.length === expected.length && actual.every((at, i) => Math.abs(at - (expected[i] ?? 0)) <= 10);
  assert.ok(isNear, `attempts at ${actual.join(', ')} s, not at ${expected.join(', ')} s`);
}

test('a receiver that never succeeds gets ten attempts in three days, then the delivery has failed', options, () =>
  withDelivery(
    () => failed(),
    async ({ result, times, orders }) => {
      assert.equal(await result(), 'failed');
      const pauses = [
        5 * second,
        5 * minute,
        30 * minute,
        2 * hour,
        5 * hour,
        10 * hour,
        14 * hour,
        20 * hour,
        24 * hour,
      ];
      const expected = [0];
      for (const pause of pauses) expected.push((expected.at(-1) ?? 0) + pause);
      assertTimes(times(), expected);
      assert.deepEqual(
        orders.map(({ isLast, nextPauseMs }) => [isLast, nextPauseMs]),
        callbackPausesMs.map((_, index) => [index === 9, callbackPausesMs[index + 1]]),
      );
    },
  ),
);

test("an attempt of the task's own is the first of the ten, and its Retry-After is obeyed", options, () =>
  withDelivery(
    () => failed(),
    async ({ result, times, orders }) => {
      assert.equal(await result(), 'failed');
      assertTimes(times().slice(0, 4), [0, 40 * minute, 45 * minute, 75 * minute]);
      assert.deepEqual(
        orders.map(({ isLast }) => isLast),
        callbackPausesMs.slice(1).map((_, index) => index === 8),
      );
    },
    failed(40 * minute * 1_000),
  ),
);

test(
  "a redelivery that is asked for before the first step is not taken for done by the task's own attempt",
  options,
  async () => {
    assert.ok(environment);
    const { client, nativeConnection: connection } = environment;
    const queues = taskQueuesOf(`test-${randomUUID()}`);
    // Nobody serves the queue yet, so start and signal come to the workflow together.
    const handle = await client.workflow.signalWithStart('deliverCallback', {
      workflowId: randomUUID(),
      taskQueue: queues.main,
      args: [{ ...delivery, firstAttempt: failed(40 * minute * 1_000) }],
      signal: 'redeliver',
    });
    const askedAt = await environment.currentTimeMs();
    const atMs: number[] = [];
    const sendCallback = async () => {
      atMs.push(await environment.currentTimeMs());
      return delivered;
    };
    const workers = await Promise.all([
      Worker.create({ connection, taskQueue: queues.main, workflowBundle }),
      Worker.create({ connection, taskQueue: queues.callbacks, activities: { sendCallback } }),
    ]);
    const runs = workers.map((worker) => worker.run());
    try {
      assert.equal(await handle.result(), 'delivered');
      assertTimes(
        atMs.map((ms) => Math.round((ms - askedAt) / 1_000)),
        [0],
      );
    } finally {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
    }
  },
);

test('the schedule ends with the first success', options, () =>
  withDelivery(
    (attempt) => (attempt < 4 ? failed() : delivered),
    async ({ result, times }) => {
      assert.equal(await result(), 'delivered');
      assertTimes(times(), [0, 5, 5 + 5 * minute, 5 + 35 * minute]);
    },
  ),
);

test('410 ends it at once', options, () =>
  withDelivery(
    () => ({ kind: 'gone' }),
    async ({ result, times }) => {
      assert.equal(await result(), 'gone');
      assert.equal(times().length, 1);
    },
  ),
);

test('Retry-After is obeyed when it is longer than the schedule, for one pause, and up to a day', options, () =>
  withDelivery(
    (attempt) => [failed(40 * minute * 1_000), failed(1_000), failed(900 * hour * 1_000)][attempt - 1] ?? delivered,
    async ({ result, times }) => {
      assert.equal(await result(), 'delivered');
      assertTimes(times(), [0, 40 * minute, 45 * minute, 45 * minute + 24 * hour]);
    },
  ),
);

test('a redelivery that is asked for in a pause goes out at once and begins the schedule anew', options, () =>
  withDelivery(
    (attempt) => (attempt < 6 ? failed() : delivered),
    async ({ environment: { sleep }, result, times, redeliver, orders }) => {
      await sleep('1 hour');
      assert.equal(orders.length, 4, 'the fifth attempt is due in two hours');
      await redeliver();
      assert.equal(await result(), 'delivered');
      assertTimes(times(), [0, 5, 305, 2_105, hour, hour + 5]);
    },
  ),
);

test('a redelivery that is asked for while an attempt is under way is not lost with its success', options, () =>
  withDelivery(
    async (attempt, redeliver) => {
      if (attempt === 1) await redeliver();
      return delivered;
    },
    async ({ result, orders }) => {
      assert.equal(await result(), 'delivered');
      assert.equal(orders.length, 2);
    },
  ),
);
