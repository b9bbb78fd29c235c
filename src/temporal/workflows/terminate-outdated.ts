import type { Client } from '@temporalio/client';
import type { TaskQueues } from '../connection/task-queues.ts';
import { isLowerCaseUuid } from '../../platform/text/uuid.ts';
import { unlessMissing } from './describe-task.ts';

// After a restore from a backup, running workflows may be newer than the database. The visibility store lags by a second or so, so a
// repeated call may find more.

const pageSize = 500;

/** Terminates the workflows of tasks that the database does not have, and returns how many. */
export async function terminateUnknownTasks(
  client: Client,
  { tasks }: TaskQueues,
  listKnown: (taskIds: readonly string[]) => Promise<readonly string[]>,
): Promise<number> {
  let terminated = 0;
  const endUnknown = async (taskIds: readonly string[]) => {
    const known = new Set(await listKnown(taskIds));
    for (const taskId of taskIds)
      if (!known.has(taskId)) terminated += await terminate(client, taskId, 'the task is not in the restored database');
  };
  let page: string[] = [];
  for await (const workflowId of listRunning(client, 'videoTask', tasks)) {
    // Any other id was mistyped by an operator; its workflow ends on its own.
    if (isLowerCaseUuid(workflowId)) page.push(workflowId);
    if (page.length < pageSize) continue;
    await endUnknown(page);
    page = [];
  }
  await endUnknown(page);
  return terminated;
}

/** Terminates the workflows that empty closed accounts, and returns how many. `reconcile` starts those of the restored database. */
export async function terminateClosings(client: Client, { tasks }: TaskQueues): Promise<number> {
  let terminated = 0;
  for await (const workflowId of listRunning(client, 'closeAccount', tasks))
    terminated += await terminate(client, workflowId, 'the database was restored from a backup');
  return terminated;
}

async function* listRunning(client: Client, workflowType: string, taskQueue: string): AsyncGenerator<string> {
  const query = `WorkflowType = '${workflowType}' AND TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize })) yield workflowId;
}

async function terminate(client: Client, workflowId: string, reason: string): Promise<0 | 1> {
  const handle = client.workflow.getHandle(workflowId);
  return (await unlessMissing(client, () => handle.terminate(reason))) === undefined ? 0 : 1;
}
