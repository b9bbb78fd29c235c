import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionStatusName,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { TaskQueues } from '../domain/task-queues.ts';
import { callbackWorkflowId, taskWorkflowId } from '../domain/workflow-ids.ts';
import type { deliverCallback, redeliverSignal, videoTask } from '../../workflows/index.ts';
import { within } from './connect.ts';

const startLimitMs = 10_000;
const lookLimitMs = 5_000;

export const searchAttributes = {
  accountId: defineSearchAttributeKey('AccountId', SearchAttributeType.KEYWORD),
  model: defineSearchAttributeKey('Model', SearchAttributeType.KEYWORD),
  taskState: defineSearchAttributeKey('TaskState', SearchAttributeType.KEYWORD),
};

type TaskStatus = 'running' | 'missing' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out';

/** What Videogen asks of Temporal. Every call may be repeated, and gives up after a few seconds when Temporal is away. */
export function createEngine(client: Client, queues: TaskQueues) {
  return {
    startTask: (task: { taskId: string; accountId: string; model: string }) => startTask(client, queues, task),
    taskStatus: (taskId: string) => taskStatus(client, taskId),
    startDelivery: (delivery: { taskId: string; accountId: string }) => startDelivery(client, queues, delivery),
    redeliver: (delivery: { taskId: string; accountId: string }) => redeliver(client, queues, delivery),
  };
}

export type Engine = ReturnType<typeof createEngine>;

/** Starts the task's workflow; one that was started before, even one that has ended, is left alone. */
async function startTask(
  client: Client,
  queues: TaskQueues,
  { taskId, accountId, model }: { taskId: string; accountId: string; model: string },
): Promise<void> {
  await unlessStarted(() =>
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

/** Starts a delivery of the task's callback; one that is running is left alone, one that has ended is begun again. */
async function startDelivery(
  client: Client,
  queues: TaskQueues,
  delivery: { taskId: string; accountId: string },
): Promise<void> {
  await unlessStarted(() =>
    within(client, startLimitMs, () =>
      client.workflow.start<typeof deliverCallback>('deliverCallback', deliveryOptions(queues, delivery)),
    ),
  );
}

/** Has the callback sent now: by its running workflow, which begins its schedule anew, or by a new one. */
async function redeliver(
  client: Client,
  queues: TaskQueues,
  delivery: { taskId: string; accountId: string },
): Promise<void> {
  const signal: (typeof redeliverSignal)['name'] = 'redeliver';
  await within(client, startLimitMs, () =>
    client.workflow.signalWithStart<typeof deliverCallback>('deliverCallback', {
      ...deliveryOptions(queues, delivery),
      signal,
    }),
  );
}

function deliveryOptions(queues: TaskQueues, { taskId, accountId }: { taskId: string; accountId: string }) {
  return {
    workflowId: callbackWorkflowId(taskId),
    taskQueue: queues.main,
    args: [{ taskId, accountId }] satisfies [unknown],
    typedSearchAttributes: [{ key: searchAttributes.accountId, value: accountId }],
    staticSummary: `callback of task ${taskId}`,
  };
}

async function unlessStarted(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Reads the state of the workflow itself; the visibility store is behind and never asked. */
async function taskStatus(client: Client, taskId: string): Promise<TaskStatus> {
  try {
    const handle = client.workflow.getHandle(taskWorkflowId(taskId));
    const { status } = await within(client, lookLimitMs, () => handle.describe());
    return statusOf[status.name];
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}

const statusOf: Record<WorkflowExecutionStatusName, TaskStatus> = {
  RUNNING: 'running',
  PAUSED: 'running',
  CONTINUED_AS_NEW: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  UNSPECIFIED: 'running',
  UNKNOWN: 'running',
};
