import type { Client } from '@temporalio/client';
import type { TaskQueues } from '../domain/task-queues.ts';
import { isUuid } from '../domain/uuid.ts';
import { unlessGone } from './describe-task.ts';

/** Workflows that are compared with the database at a time. */
const pageSize = 500;
const reason = 'the database that Videogen was restored from does not know this task';
const restored = 'the database was restored from a backup';

/**
 * Terminates the running workflows of tasks that the database does not know, as after a restore of an older one; answers how many. The
 * visibility store lags by a second or so, so a later call may find more.
 */
export async function terminateUnknownTasks(
  client: Client,
  { main }: TaskQueues,
  listKnown: (taskIds: readonly string[]) => Promise<readonly string[]>,
): Promise<number> {
  let terminated = 0;
  const endUnknown = async (taskIds: readonly string[]) => {
    const known = new Set(await listKnown(taskIds));
    for (const taskId of taskIds.filter((id) => !known.has(id))) {
      const handle = client.workflow.getHandle(taskId);
      if ((await unlessGone(client, () => handle.terminate(reason))) !== undefined) terminated += 1;
    }
  };
  let page: string[] = [];
  const query = `WorkflowType = 'videoTask' AND TaskQueue = '${main}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize })) {
    // Another id was mistyped by an operator; its workflow ends by itself.
    if (isUuid(workflowId)) page.push(workflowId);
    if (page.length < pageSize) continue;
    await endUnknown(page);
    page = [];
  }
  await endUnknown(page);
  return terminated;
}

/**
 * Terminates the running workflows that empty closed accounts, whose progress is that of the database before its restore; returns how
 * many. `reconcile` starts them again.
 */
export async function terminateClosings(client: Client, { main }: TaskQueues): Promise<number> {
  let terminated = 0;
  const query = `WorkflowType = 'closeAccount' AND TaskQueue = '${main}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize })) {
    const handle = client.workflow.getHandle(workflowId);
    if ((await unlessGone(client, () => handle.terminate(restored))) !== undefined) terminated += 1;
  }
  return terminated;
}
