import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { Database } from '../../platform/database/database.ts';
import type { TaskFailure } from '../../catalogue/tasks/task.ts';
import { listUnfinishedTasks } from '../../tasks/list/unfinished-and-stuck-tasks.ts';
import { listKnownTasks } from '../../tasks/task-rows.ts';
import { failAndRefund } from '../../tasks/end/end-task-statements.ts';
import { freshPollerMs, readPollers } from '../connection/server-facts.ts';
import { queueNames, type TaskQueues } from '../connection/queue-names-and-workflow-ids.ts';
import { isLowerCaseUuid } from '../../platform/text/uuid.ts';
import { unlessMissing } from './describe-workflow.ts';

const restoredFailure: TaskFailure = {
  failCode: 'terminated',
  failMsg: 'The task had not ended when the backup was made from which the service was restored.',
};

const pageSize = 500;
const concurrency = 8;

/**
 * Refunds the unfinished tasks of an older database rather than making them again, because their jobs may have been made, and paid for,
 * since the backup. Terminates workflows of tasks that were accepted after it. Safe to repeat; a repeated call may find more, because
 * Temporal lists workflows with a delay. No worker may run meanwhile: see `explainPollingWorker`.
 */
export async function refundRestoredTasks(db: Database, client: Client, queues: TaskQueues) {
  const limit = pLimit(concurrency);
  let refunded = 0;
  for (;;) {
    const page = await listUnfinishedTasks(db, { minAgeMs: 0, limit: pageSize });
    if (page.length === 0) break;
    // `reconcile` terminates their workflows, and delivers their callbacks.
    const refund = ({ taskId }: { taskId: string }) =>
      failAndRefund(db, taskId, restoredFailure, { terminatesAfterMs: 0 });
    const ended = await Promise.all(page.map((task) => limit(refund, task)));
    refunded += ended.filter(({ changed }) => changed).length;
  }
  const unknown = await terminateUnknownTasks(db, client, queues);
  return { refunded, terminated: unknown + (await terminateClosings(client, queues)) };
}

/** Terminates the workflows of tasks that the database does not have, and returns how many. */
async function terminateUnknownTasks(db: Database, client: Client, { tasks }: TaskQueues): Promise<number> {
  let terminated = 0;
  const endUnknown = async (taskIds: readonly string[]) => {
    const known = new Set((await listKnownTasks(db, taskIds)).map(({ taskId }) => taskId));
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
async function terminateClosings(client: Client, { tasks }: TaskQueues): Promise<number> {
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

/**
 * Returns why the tasks may not be refunded while a worker polls: a working installation would lose every task in progress, and a worker may
 * create a job while its task is refunded. Undefined if no worker has polled recently.
 */
export async function explainPollingWorker(client: Client, queues: TaskQueues): Promise<string | undefined> {
  for (const name of queueNames) {
    const [worker] = (await readPollers(client, queues[name], 'activity')).workers;
    if (worker === undefined) continue;
    const seconds = freshPollerMs / 1000;
    return `worker ${worker.identity} has polled in the last ${seconds} seconds: stop all workers, wait for ${seconds} seconds, and repeat the command`;
  }
  return undefined;
}
