import type { Client } from '@temporalio/client';
import { owedDeliveryIds } from '../../tasks/end/task-end-event-and-delivery-ids.ts';
import { callbackWorkflowId, taskWorkflowId } from '../connection/queue-names-and-workflow-ids.ts';
import { isNotFound, callWithin } from '../connection/connect.ts';
import { describeWorkflow, unlessMissing } from './describe-workflow.ts';

const limitMs = 10_000;
/** Limits the runs of one workflow id; each reset or redelivery adds one. */
const maxRuns = 1000;

/**
 * Deletes the histories of a task, its callback and its event in Temporal. Returns false while the task's workflow runs; those of the
 * deliveries are terminated.
 */
export async function deleteTaskHistories(client: Client, taskId: string): Promise<boolean> {
  for (const deliveryId of owedDeliveryIds(taskId, { hasCallback: true, hasEvent: true }))
    await forget(client, callbackWorkflowId(deliveryId), { ends: true });
  return forget(client, taskWorkflowId(taskId), { ends: false });
}

async function forget(client: Client, workflowId: string, { ends }: { readonly ends: boolean }): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  const described = await describeWorkflow(client, workflowId);
  if (described?.status === 'running') {
    if (!ends) return false;
    await unlessMissing(client, () => handle.terminate('the content of the task was deleted'));
  }
  // The list lags behind and may lack the described run. The second deletion, a day later, finds runs that it misses.
  const runs = new Set([...(described === undefined ? [] : [described.runId]), ...(await runsOf(client, workflowId))]);
  for (const runId of runs) await deleteRun(client, workflowId, runId);
  return true;
}

async function runsOf(client: Client, workflowId: string): Promise<readonly string[]> {
  const { executions } = await callWithin(client, limitMs, () =>
    client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query: `WorkflowId = '${workflowId}'`,
      pageSize: maxRuns,
    }),
  );
  return (executions ?? []).flatMap(({ execution }) => execution?.runId ?? []);
}

async function deleteRun(client: Client, workflowId: string, runId: string): Promise<void> {
  const { namespace } = client.options;
  const workflowExecution = { workflowId, runId };
  try {
    await callWithin(client, limitMs, () =>
      client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
