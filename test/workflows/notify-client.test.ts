import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DeliveryAttemptOutcome, SendCallbackInput } from '../../activities/send-callback-or-event.ts';
import {
  type OwedNotifications,
  owedDeliveryIds,
  taskEventId,
} from '../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { callbackWorkflowId, taskQueuesOf } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { startTimeSkipping } from '../support/workflows/time-skipping.ts';
import { waitFor } from '../support/wait-for.ts';

// The workflows of a task and of its callback are the real ones, and the activities are played; the task has ended before.
const shared = await startTimeSkipping();
const options = { skip: shared === undefined && 'the time-skipping test server is not to be had here' };
after(() => shared?.teardown());

type Notified = {
  readonly taskId: string;
  /** Records every attempt, by the task's workflow or by its own. */
  readonly inputs: readonly SendCallbackInput[];
  /** Pauses that the task's own workflow made. */
  readonly taskPauses: number;
  /** The limit of the attempt by the task's own workflow, and whether it was exceeded. */
  readonly limitSeconds: number;
  readonly isTimedOut: boolean;
  /** The end of the own workflow of the event, or of the callback without one; undefined if there was none. */
  readonly ownWorkflow: string | undefined;
};

/** Runs a task to the end of its workflow and of the delivery. Without `receiver` no worker serves callbacks until the task has ended. */
async function notified(
  receiver?: (attempt: number) => DeliveryAttemptOutcome,
  environment: TestWorkflowEnvironment | undefined = shared,
  owed: OwedNotifications = { hasCallback: true },
): Promise<Notified> {
  assert.ok(environment);
  const { client, nativeConnection: connection } = environment;
  const queues = taskQueuesOf(`test-${randomUUID()}`);
  const taskId = randomUUID();
  const inputs: SendCallbackInput[] = [];
  const sendCallback = (input: SendCallbackInput) => Promise.resolve((receiver ?? delivered)(inputs.push(input)));
  const workflowBundle = { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) };
  const activities = {
    chargeCredits: () =>
      Promise.resolve({ accountId: 'alice', model: 'm', deadlineMs: 1, isFinal: true, isRemote: false }),
    refundCredits: () => Promise.resolve({ state: 'success', ...owed }),
  };
  const workers = [await Worker.create({ connection, taskQueue: queues.tasks, workflowBundle, activities })];
  const runs = workers.map((worker) => worker.run());
  const serveCallbacks = async () => {
    const worker = await Worker.create({ connection, taskQueue: queues.callbacks, activities: { sendCallback } });
    workers.push(worker);
    runs.push(worker.run());
  };
  if (receiver !== undefined) await serveCallbacks();
  try {
    const start = { workflowId: taskId, taskQueue: queues.tasks, args: [{ taskId }] };
    const task = await client.workflow.start('videoTask', start);
    const ended = task.result();
    if (receiver === undefined) {
      const limit = await waitFor('the order of the attempt', async () => (await attemptOf(task)).scheduled);
      // The test server skips time that an activity may need only when it is told to.
      await environment.sleep(msOf(limit.scheduleToCloseTimeout) + 1_000);
    }
    await ended;
    const { scheduled, isTimedOut, pauses: taskPauses } = await attemptOf(task);
    const limitSeconds = msOf(scheduled?.scheduleToCloseTimeout) / 1_000;
    if (receiver === undefined) await serveCallbacks();
    const [deliveryId = taskId] = owedDeliveryIds(taskId, owed).toReversed();
    const own = client.workflow.getHandle(callbackWorkflowId(deliveryId)).result();
    const ownWorkflow = await own.then(String, (error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
    return { taskId, inputs, taskPauses, limitSeconds, isTimedOut, ownWorkflow };
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  }
}

/** Returns the events of a history about the attempt at the callback, and about pauses. */
async function attemptOf(task: WorkflowHandle) {
  const events = (await task.fetchHistory()).events ?? [];
  const scheduled = events
    .map((event) => event.activityTaskScheduledEventAttributes)
    .find((attributes) => attributes?.activityType?.name === 'sendCallback');
  const isTimedOut = events.some((event) => Boolean(event.activityTaskTimedOutEventAttributes));
  const pauses = events.filter((event) => Boolean(event.timerStartedEventAttributes)).length;
  return { scheduled: scheduled ?? undefined, isTimedOut, pauses };
}

function msOf(duration: { readonly seconds?: unknown } | null | undefined): number {
  return Number(duration?.seconds) * 1_000;
}

const delivered = (): DeliveryAttemptOutcome => ({ kind: 'delivered' });
const pauses = (inputs: readonly SendCallbackInput[]) => inputs.map(({ nextPauseMs }) => nextPauseMs);

test('a callback that is answered at the first attempt needs no workflow of its own', options, async () => {
  const { inputs, ownWorkflow } = await notified(delivered);
  assert.deepEqual([pauses(inputs), ownWorkflow], [[5_000], undefined]);
});

test('410 at the first attempt ends the delivery as well', options, async () => {
  const { inputs, ownWorkflow } = await notified(() => ({ kind: 'rejected' }));
  assert.deepEqual([inputs.length, ownWorkflow], [1, undefined]);
});

test('after a failed first attempt the schedule continues without the task', options, async () => {
  const { inputs, taskPauses, ownWorkflow } = await notified((attempt) =>
    attempt < 3 ? { kind: 'failed', retryAfterMs: undefined } : delivered(),
  );
  assert.deepEqual([pauses(inputs), ownWorkflow], [[5_000, 300_000, 1_800_000], 'delivered']);
  assert.equal(taskPauses, 0);
});

test(
  'an attempt without a free slot does not count: the schedule begins in a workflow of its own',
  options,
  async () => {
    const { inputs, ownWorkflow } = await notified((attempt) => {
      if (attempt === 1) throw ApplicationFailure.create({ type: 'busy', message: 'no free slot' });
      return delivered();
    });
    assert.deepEqual([pauses(inputs), ownWorkflow], [[5_000, 5_000], 'delivered']);
  },
);

test('a task waits a minute at most for a worker that makes the attempt', options, async () => {
  // An activity that was never taken leaves the clock of its server locked for the tests behind it.
  const own = await startTimeSkipping();
  try {
    const { inputs, limitSeconds, isTimedOut, ownWorkflow } = await notified(undefined, own);
    assert.deepEqual([pauses(inputs), ownWorkflow], [[5_000], 'delivered']);
    assert.deepEqual([limitSeconds, isTimedOut], [60, true]);
  } finally {
    await own?.teardown();
  }
});

test(
  'the callback and the event of a task are attempted by its workflow, and neither waits for the other',
  options,
  async () => {
    const owed = { hasCallback: true, hasEvent: true };
    const { taskId, inputs, taskPauses, ownWorkflow } = await notified(delivered, shared, owed);
    assert.deepEqual(inputs.map(({ deliveryId }) => deliveryId).toSorted(), [taskId, taskEventId(taskId)].toSorted());
    assert.deepEqual([taskPauses, ownWorkflow], [0, undefined]);
  },
);

test('an event that fails at the first attempt continues in a workflow of its own', options, async () => {
  const { taskId, inputs, ownWorkflow } = await notified(
    (attempt) => (attempt < 2 ? { kind: 'failed', retryAfterMs: undefined } : delivered()),
    shared,
    { hasCallback: false, hasEvent: true },
  );
  assert.deepEqual(
    inputs.map(({ deliveryId }) => deliveryId),
    [taskEventId(taskId), taskEventId(taskId)],
  );
  assert.deepEqual([pauses(inputs), ownWorkflow], [[5_000, 300_000], 'delivered']);
});
