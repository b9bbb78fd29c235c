import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { callbackWorkflowId, type TaskQueues, taskWorkflowId } from '../domain/task-queues.ts';
import type { deliverCallback, redeliverSignal, videoTask } from '../../workflows/index.ts';
import { within } from './connect.ts';
import { lookAt, unlessGone } from './workflow-look.ts';

const startLimitMs = 10_000;
const stopLimitMs = 5_000;

export const searchAttributes = {
  accountId: defineSearchAttributeKey('AccountId', SearchAttributeType.KEYWORD),
  model: defineSearchAttributeKey('Model', SearchAttributeType.KEYWORD),
  taskState: defineSearchAttributeKey('TaskState', SearchAttributeType.KEYWORD),
};

type AcceptedTask = { readonly taskId: string; readonly accountId: string; readonly model: string };

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

/** Asks the task's workflow to end, which stops its generation; harmless when it has ended or was never started. */
async function cancelTask(client: Client, taskId: string): Promise<void> {
  await unlessGone(() => within(client, stopLimitMs, () => client.workflow.getHandle(taskWorkflowId(taskId)).cancel()));
}

/** Ends a workflow that cannot end by itself any more; harmless when it has. */
async function terminateTask(client: Client, taskId: string, reason: string): Promise<void> {
  await unlessGone(() =>
    within(client, stopLimitMs, () => client.workflow.getHandle(taskWorkflowId(taskId)).terminate(reason)),
  );
}
