import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DeliveryAttemptOutcome, SendCallbackInput } from '../../activities/send-callback-or-event.ts';
import { callbackPausesMs } from '../../src/tasks/callbacks/callback-schedule.ts';
import { taskQueuesOf } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { startTimeSkipping } from '../support/workflows/time-skipping.ts';

// The workflow is the real one and so are its timers; the clock is the test server's, and the activity is played.
const environment = await startTimeSkipping();
const options = { skip: environment === undefined && 'the time-skipping test server is not to be had here' };
after(() => environment?.teardown());

const workflowBundle = { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) };
const [second, minute, hour] = [1, 60, 3_600] as const;
const delivery = { deliveryId: '019abc12-3456-7def-8901-234567890abc', accountId: 'alice' };

/** The played activity: what the n-th attempt comes to, n counting from 1. It may ask for a redelivery meanwhile. */
type Receiver = (
  attempt: number,
  redeliver: () => Promise<void>,
) => DeliveryAttemptOutcome | Promise<DeliveryAttemptOutcome>;

type Delivering = {
  readonly environment: TestWorkflowEnvironment;
  readonly inputs: readonly SendCallbackInput[];
  /** The history of the workflow, as `taskStepsOf` reads it. */
  readonly steps: () => Promise<readonly Step[]>;
  readonly result: () => Promise<string>;
  readonly redeliver: () => Promise<void>;
};

/** An attempt, a pause in seconds, or the end of a pause that a redelivery cut short. */
type Step = 'attempt' | number | 'interrupted';

/** Reads from the history, whose pauses are exact: the times of attempts would also hold the seconds that a busy machine takes. */
async function stepsOf(handle: WorkflowHandle): Promise<readonly Step[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event): Step[] => {
    if (event.activityTaskScheduledEventAttributes) return ['attempt'];
    if (event.timerCanceledEventAttributes) return ['interrupted'];
    const pause = event.timerStartedEventAttributes?.startToFireTimeout;
    return pause ? [Number(pause.seconds)] : [];
  });
}

/** Attempts with these pauses between them. */
function attemptsAfter(...pauses: readonly number[]): readonly Step[] {
  return pauses.reduce<readonly Step[]>((steps, pause) => [...steps, pause, 'attempt'], ['attempt']);
}

/** Starts a delivery, with workers of its own, and gives it to `use`. */
async function withDelivery(
  receiver: Receiver,
  use: (delivering: Delivering) => Promise<void>,
  firstAttempt?: DeliveryAttemptOutcome,
): Promise<void> {
  assert.ok(environment);
  const { client, nativeConnection: connection } = environment;
  const queues = taskQueuesOf(`test-${randomUUID()}`);
  const workflowId = randomUUID();
  const redeliver = () => client.workflow.getHandle(workflowId).signal('redeliver');
  const inputs: SendCallbackInput[] = [];
  const sendCallback = async (input: SendCallbackInput) => await receiver(inputs.push(input), redeliver);
  const workers = await Promise.all([
    Worker.create({ connection, taskQueue: queues.tasks, workflowBundle }),
    Worker.create({ connection, taskQueue: queues.callbacks, activities: { sendCallback } }),
  ]);
  const runs = workers.map((worker) => worker.run());
  try {
    const start = { workflowId, taskQueue: queues.tasks, args: [{ ...delivery, firstAttempt }] };
    const handle = await client.workflow.start('deliverCallback', start);
    await use({
      environment,
      inputs,
      steps: () => stepsOf(handle),
      result: async () => String(await handle.result()),
      redeliver,
    });
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  }
}

const failed = (retryAfterMs?: number): DeliveryAttemptOutcome => ({ kind: 'failed', retryAfterMs });
const delivered: DeliveryAttemptOutcome = { kind: 'delivered' };

test('a receiver that never succeeds gets ten attempts in three days, then the delivery has failed', options, () =>
  withDelivery(
    () => failed(),
    async ({ result, steps, inputs }) => {
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
      assert.deepEqual(await steps(), attemptsAfter(...pauses));
      assert.deepEqual(
        inputs.map(({ isLast, nextPauseMs }) => [isLast, nextPauseMs]),
        callbackPausesMs.map((_, index) => [index === 9, callbackPausesMs[index + 1]]),
      );
    },
  ),
);

test("an attempt of the task's own is the first of the ten, and its Retry-After is obeyed", options, () =>
  withDelivery(
    () => failed(),
    async ({ result, steps, inputs }) => {
      assert.equal(await result(), 'failed');
      const [pause, ...later] = await steps();
      assert.equal(pause, 40 * minute);
      assert.deepEqual(later.slice(0, 4), attemptsAfter(5 * minute, 30 * minute).slice(0, 4));
      assert.deepEqual(
        inputs.map(({ isLast }) => isLast),
        callbackPausesMs.slice(1).map((_, index) => index === 8),
      );
    },
    failed(40 * minute * 1_000),
  ),
);

test(
  "a redelivery that is requested before the first step is not satisfied by the task's own attempt",
  options,
  async () => {
    assert.ok(environment);
    const { client, nativeConnection: connection } = environment;
    const queues = taskQueuesOf(`test-${randomUUID()}`);
    // No worker serves the queue yet, so start and signal come to the workflow together.
    const handle = await client.workflow.signalWithStart('deliverCallback', {
      workflowId: randomUUID(),
      taskQueue: queues.tasks,
      args: [{ ...delivery, firstAttempt: failed(40 * minute * 1_000) }],
      signal: 'redeliver',
    });
    const sendCallback = () => Promise.resolve(delivered);
    const workers = await Promise.all([
      Worker.create({ connection, taskQueue: queues.tasks, workflowBundle }),
      Worker.create({ connection, taskQueue: queues.callbacks, activities: { sendCallback } }),
    ]);
    const runs = workers.map((worker) => worker.run());
    try {
      assert.equal(await handle.result(), 'delivered');
      assert.deepEqual(await stepsOf(handle), ['attempt']);
    } finally {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
    }
  },
);

test('the schedule ends with the first success', options, () =>
  withDelivery(
    (attempt) => (attempt < 4 ? failed() : delivered),
    async ({ result, steps }) => {
      assert.equal(await result(), 'delivered');
      assert.deepEqual(await steps(), attemptsAfter(5, 5 * minute, 30 * minute));
    },
  ),
);

test('410 ends it immediately', options, () =>
  withDelivery(
    () => ({ kind: 'rejected' }),
    async ({ result, steps }) => {
      assert.equal(await result(), 'rejected');
      assert.deepEqual(await steps(), ['attempt']);
    },
  ),
);

test('Retry-After is obeyed when it is longer than the schedule, for one pause, and up to a day', options, () =>
  withDelivery(
    (attempt) => [failed(40 * minute * 1_000), failed(1_000), failed(900 * hour * 1_000)][attempt - 1] ?? delivered,
    async ({ result, steps }) => {
      assert.equal(await result(), 'delivered');
      assert.deepEqual(await steps(), attemptsAfter(40 * minute, 5 * minute, 24 * hour));
    },
  ),
);

test('a redelivery that is requested in a pause is sent immediately and restarts the schedule', options, () =>
  withDelivery(
    (attempt) => (attempt < 6 ? failed() : delivered),
    async ({ environment: { sleep }, result, steps, redeliver, inputs }) => {
      await sleep('1 hour');
      assert.equal(inputs.length, 4, 'the fifth attempt is due in two hours');
      await redeliver();
      assert.equal(await result(), 'delivered');
      const before = attemptsAfter(5, 5 * minute, 30 * minute);
      assert.deepEqual(await steps(), [...before, 2 * hour, 'interrupted', ...attemptsAfter(5)]);
    },
  ),
);

test('a redelivery that is requested during an attempt is not lost with its success', options, () =>
  withDelivery(
    async (attempt, redeliver) => {
      if (attempt === 1) await redeliver();
      return delivered;
    },
    async ({ result, inputs }) => {
      assert.equal(await result(), 'delivered');
      assert.equal(inputs.length, 2);
    },
  ),
);
