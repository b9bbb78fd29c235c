import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { DeliveryToStart, Engine, TaskToStart } from '../domain/ports.ts';
import { callbackWorkflowId, type TaskQueues, taskWorkflowId } from '../domain/task-queues.ts';
import type { deliverCallback, redeliverSignal, videoTask } from '../../workflows/index.ts';
import { connectTemporal, type TemporalTarget, within } from './connect.ts';
import { describeTask, unlessGone } from './describe-task.ts';
import { searchAttributes } from './search-attributes.ts';
import { createTaskProgress, type LiveTask } from './task-progress.ts';

const startLimitMs = 10_000;
const stopLimitMs = 5_000;

/** Every call may be repeated, and fails after a few seconds when Temporal is unavailable. */
export function createEngine(client: Client, queues: TaskQueues): Engine {
  return {
    startTask: (task) => startTask(client, queues, task),
    describeTask: (taskId) => describeTask(client, taskId),
    cancelTask: (taskId) => cancelTask(client, taskId),
    terminateTask: (taskId, reason) => terminateTask(client, taskId, reason),
    startDelivery: async (delivery) => void (await startDelivery(client, queues, delivery)),
    wakeDelivery: (delivery) => wakeDelivery(client, queues, delivery),
    redeliver: (delivery) => redeliver(client, queues, delivery),
  };
}

/** The API's part of it; each call is as in `createEngine` and `createTaskProgress`. */
export type ApiEngine = Pick<Engine, 'startTask' | 'cancelTask' | 'startDelivery' | 'redeliver'> & {
  readonly progressOf: (task: LiveTask) => Promise<number>;
  readonly close: () => Promise<void>;
};

/** The API's connection to Temporal. It connects on its first call; while Temporal is unavailable each call fails immediately. */
export function openApiEngine(target: TemporalTarget, queues: TaskQueues): ApiEngine {
  const { client, close } = connectTemporal(target, { retries: false });
  return { ...createEngine(client, queues), progressOf: createTaskProgress(client), close };
}

function startTask(client: Client, queues: TaskQueues, { taskId, accountId, model }: TaskToStart): Promise<boolean> {
  return unlessStarted(() =>
    within(client, startLimitMs, () =>
      client.workflow.start<typeof videoTask>('videoTask', {
        workflowId: taskWorkflowId(taskId),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        taskQueue: queues.main,
        args: [{ taskId }],
        memo: { accountId, model },
        typedSearchAttributes: [
          { key: searchAttributes.accountId, value: accountId },
          { key: searchAttributes.model, value: model },
          { key: searchAttributes.taskState, value: 'queuing' },
        ],
        staticSummary: `${model} for account ${accountId}`,
        staticDetails: `Task \`${taskId}\`. Look it up with \`videogen task show ${taskId}\`.`,
        priority: { fairnessKey: accountId },
      }),
    ),
  );
}

function startDelivery(client: Client, queues: TaskQueues, delivery: DeliveryToStart): Promise<boolean> {
  return unlessStarted(() =>
    within(client, startLimitMs, () =>
      client.workflow.start<typeof deliverCallback>('deliverCallback', deliveryOptions(queues, delivery)),
    ),
  );
}

/**
 * A redelivery is committed first and signalled then, so its signal may be lost. With no attempt under way and no step due, a
 * workflow waits for the end of a pause; any other that runs sends by itself.
 */
async function wakeDelivery(client: Client, queues: TaskQueues, delivery: DeliveryToStart): Promise<void> {
  if (await startDelivery(client, queues, delivery)) return;
  const handle = client.workflow.getHandle(callbackWorkflowId(delivery.taskId));
  const described = await unlessGone(() => within(client, startLimitMs, () => handle.describe()));
  if (described === undefined) return;
  const { pendingActivities, pendingWorkflowTask } = described.raw;
  const isPausing = !pendingActivities?.length && !pendingWorkflowTask;
  if (isPausing) await redeliver(client, queues, delivery);
}

async function redeliver(client: Client, queues: TaskQueues, delivery: DeliveryToStart): Promise<void> {
  const signal: (typeof redeliverSignal)['name'] = 'redeliver';
  await within(client, startLimitMs, () =>
    client.workflow.signalWithStart<typeof deliverCallback>('deliverCallback', {
      ...deliveryOptions(queues, delivery),
      signal,
    }),
  );
}

function deliveryOptions(queues: TaskQueues, { taskId, accountId }: DeliveryToStart) {
  return {
    workflowId: callbackWorkflowId(taskId),
    taskQueue: queues.main,
    args: [{ taskId, accountId }] satisfies [unknown],
    typedSearchAttributes: [{ key: searchAttributes.accountId, value: accountId }],
    staticSummary: `callback of task ${taskId}`,
  };
}

async function unlessStarted(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start();
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

async function cancelTask(client: Client, taskId: string): Promise<boolean> {
  const handle = client.workflow.getHandle(taskWorkflowId(taskId));
  return (await unlessGone(() => within(client, stopLimitMs, () => handle.cancel()))) !== undefined;
}

async function terminateTask(client: Client, taskId: string, reason: string): Promise<void> {
  await unlessGone(() =>
    within(client, stopLimitMs, () => client.workflow.getHandle(taskWorkflowId(taskId)).terminate(reason)),
  );
}
