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

type AcceptedTask = { readonly taskId: string; readonly accountId: string; readonly model: string };

/** One look at a task's workflow: whether it runs, whether its code fails again and again, and what it waits for. */
type WorkflowLook = {
  readonly status: TaskStatus;
  readonly workflowTaskAttempts: number;
  readonly pendingActivities: readonly string[];
};

/** What Videogen asks of Temporal. Every call may be repeated, and gives up after a few seconds when Temporal is away. */
export function createEngine(client: Client, queues: TaskQueues) {
  return {
    startTask: (task: AcceptedTask) => startTask(client, queues, task),
    lookAt: (taskId: string) => lookAt(client, taskId),
    cancelTask: (taskId: string) => cancelTask(client, taskId),
    terminateTask: (taskId: string, reason: string) => terminateTask(client, taskId, reason),
    startDelivery: (delivery: { taskId: string; accountId: string }) => startDelivery(client, queues, delivery),
    redeliver: (delivery: { taskId: string; accountId: string }) => redeliver(client, queues, delivery),
  };
}

export type Engine = ReturnType<typeof createEngine>;

/** Starts the task's workflow; answers false when one was started before, even one that has ended, and leaves it alone. */
function startTask(client: Client, queues: TaskQueues, { taskId, accountId, model }: AcceptedTask): Promise<boolean> {
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

async function unlessStarted(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start();
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** Reads the state of the workflow itself; the visibility store is behind and never asked. */
async function lookAt(client: Client, taskId: string): Promise<WorkflowLook> {
  const handle = client.workflow.getHandle(taskWorkflowId(taskId));
  const described = await unlessGone(() => within(client, lookLimitMs, () => handle.describe()));
  if (described === undefined) return { status: 'missing', workflowTaskAttempts: 0, pendingActivities: [] };
  const { status, raw } = described;
  return {
    status: statusOf[status.name],
    workflowTaskAttempts: raw.pendingWorkflowTask?.attempt ?? 0,
    pendingActivities: raw.pendingActivities?.flatMap(({ activityType }) => activityType?.name ?? []) ?? [],
  };
}

/** Asks the task's workflow to end, which stops its generation; harmless when it has ended or was never started. */
async function cancelTask(client: Client, taskId: string): Promise<void> {
  await unlessGone(() => within(client, lookLimitMs, () => client.workflow.getHandle(taskWorkflowId(taskId)).cancel()));
}

/** Ends a workflow that cannot end by itself any more; harmless when it has. */
async function terminateTask(client: Client, taskId: string, reason: string): Promise<void> {
  await unlessGone(() =>
    within(client, lookLimitMs, () => client.workflow.getHandle(taskWorkflowId(taskId)).terminate(reason)),
  );
}

/** Undefined when there is no such workflow, or none that runs. */
async function unlessGone<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
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
