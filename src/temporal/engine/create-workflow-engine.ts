import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import type { DeliveryToStart, WorkflowEngine, TaskToStart } from '../../catalogue/tasks/workflow-engine.ts';
import {
  callbackWorkflowId,
  closingWorkflowId,
  type TaskQueues,
  taskWorkflowId,
} from '../connection/queue-names-and-workflow-ids.ts';
import type {
  closeAccount,
  deliverCallback,
  redeliverSignal,
  testProvider,
  videoTask,
} from '../../../workflows/index.ts';
import { callWithin } from '../connection/connect.ts';
import { describeTaskWorkflow, describeWorkflow, unlessMissing } from './describe-workflow.ts';
import { deleteTaskHistories } from './delete-task-histories.ts';
import { endRetryPausesOfTask } from './end-retry-pauses.ts';
import { searchAttributes } from '../connection/search-attributes.ts';

const limitMs = 10_000;

export function createWorkflowEngine(client: Client, queues: TaskQueues): WorkflowEngine {
  const handleOf = (taskId: string) => client.workflow.getHandle(taskWorkflowId(taskId));
  return {
    startTask: (task) =>
      started(client, () => client.workflow.start<typeof videoTask>('videoTask', taskOptions(queues, task))),
    describeTask: (taskId) => describeTaskWorkflow(client, taskId),
    cancelWorkflow: async (taskId) => (await unlessMissing(client, () => handleOf(taskId).cancel())) !== undefined,
    testProvider: (provider) => runProviderTest(client, queues, provider),
    retryNow: (taskId) => endRetryPausesOfTask(client, taskId),
    terminateTask: async (taskId, reason) =>
      void (await unlessMissing(client, () => handleOf(taskId).terminate(reason))),
    deleteTaskHistories: (taskId) => deleteTaskHistories(client, taskId),
    startClosing: async (accountId) => void (await startClosing(client, queues, accountId)),
    startDelivery: async (delivery) => void (await startDelivery(client, queues, delivery)),
    wakeDelivery: (delivery) => wakeDelivery(client, queues, delivery),
    redeliver: (delivery) => redeliver(client, queues, delivery),
  };
}

type TaskOptions = WorkflowStartOptions<typeof videoTask>;

function taskOptions(queues: TaskQueues, { taskId, accountId, model }: TaskToStart): TaskOptions {
  return {
    workflowId: taskWorkflowId(taskId),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue: queues.tasks,
    args: [{ taskId }],
    typedSearchAttributes: [
      { key: searchAttributes.accountId, value: accountId },
      { key: searchAttributes.model, value: model },
      { key: searchAttributes.taskState, value: 'queuing' },
    ],
    staticSummary: `${model} for account ${accountId}`,
    staticDetails: `Task \`${taskId}\`. Show it with \`videogen api GET /api/admin/v1/tasks/show -f taskId=${taskId}\`.`,
    priority: { fairnessKey: accountId },
  };
}

function startClosing(client: Client, queues: TaskQueues, accountId: string): Promise<boolean> {
  return started(client, () =>
    client.workflow.start<typeof closeAccount>('closeAccount', {
      workflowId: closingWorkflowId(accountId),
      taskQueue: queues.tasks,
      args: [{ accountId }],
      typedSearchAttributes: [{ key: searchAttributes.accountId, value: accountId }],
      staticSummary: `closing of account ${accountId}`,
    }),
  );
}

function startDelivery(client: Client, queues: TaskQueues, delivery: DeliveryToStart): Promise<boolean> {
  const options = deliveryOptions(queues, delivery);
  return started(client, () => client.workflow.start<typeof deliverCallback>('deliverCallback', options));
}

/**
 * A redelivery is committed before it is signalled, so its signal may be lost. A workflow without a pending attempt or step waits for
 * the end of a pause; any other running workflow sends on its own.
 */
async function wakeDelivery(client: Client, queues: TaskQueues, delivery: DeliveryToStart): Promise<void> {
  if (await startDelivery(client, queues, delivery)) return;
  const described = await describeWorkflow(client, callbackWorkflowId(delivery.deliveryId));
  if (described === undefined) return;
  const { pendingActivities, pendingWorkflowTask } = described.raw;
  const isPausing = !pendingActivities?.length && !pendingWorkflowTask;
  if (isPausing) await redeliver(client, queues, delivery);
}

async function redeliver(client: Client, queues: TaskQueues, delivery: DeliveryToStart): Promise<void> {
  const signal: (typeof redeliverSignal)['name'] = 'redeliver';
  const options = { ...deliveryOptions(queues, delivery), signal };
  await callWithin(client, limitMs, () =>
    client.workflow.signalWithStart<typeof deliverCallback>('deliverCallback', options),
  );
}

function deliveryOptions(queues: TaskQueues, { deliveryId, accountId }: DeliveryToStart) {
  return {
    workflowId: callbackWorkflowId(deliveryId),
    taskQueue: queues.tasks,
    args: [{ deliveryId, accountId }] satisfies [unknown],
    typedSearchAttributes: [{ key: searchAttributes.accountId, value: accountId }],
    staticSummary: `delivery ${deliveryId}`,
  };
}

/** More than the timeouts of the workflow's activity. */
const testLimitMs = 25_000;

/** Simultaneous tests of a provider share one workflow. */
function runProviderTest(client: Client, queues: TaskQueues, provider: string) {
  return callWithin(client, testLimitMs, () =>
    client.workflow.execute<typeof testProvider>('testProvider', {
      workflowId: `${queues.tasks}-test-provider-${provider}`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      // A timeout leaves nothing to clean up.
      workflowExecutionTimeout: testLimitMs,
      taskQueue: queues.tasks,
      args: [{ provider }],
      staticSummary: `test of provider ${provider}`,
    }),
  );
}

async function started(client: Client, start: () => Promise<unknown>): Promise<boolean> {
  try {
    await callWithin(client, limitMs, start);
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
