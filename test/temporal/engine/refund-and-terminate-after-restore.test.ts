import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  explainPollingWorker,
  refundRestoredTasks,
} from '../../../src/temporal/engine/refund-and-terminate-after-restore.ts';
import { queueNames, taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { listDueTerminations } from '../../../src/tasks/list/workflow-terminations.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

/** Lists these workflows of tasks, and notes which are terminated. */
function clientOf(workflowIds: readonly string[], terminated: string[], closings: readonly string[] = []): Client {
  const client = {
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflow: {
      list: async function* ({ query }: { readonly query: string }) {
        assert.match(query, /AND TaskQueue = 'queue' AND ExecutionStatus = 'Running'$/);
        const listed = query.startsWith("WorkflowType = 'videoTask' ") ? workflowIds : closings;
        for (const workflowId of listed) yield await Promise.resolve({ workflowId });
      },
      getHandle: (workflowId: string) => ({ terminate: async () => ({ count: terminated.push(workflowId) }) }),
    },
  };
  // All that is used of a client, while no workflow is missing.
  return client as unknown as Client;
}

test('after a restore every unfinished task is refunded, and every workflow without a task is terminated, beyond one page of each', async () => {
  const database = await createTestDatabase();
  try {
    const { db } = database;
    const accountId = await createAccount(db, { name: 'restored', credits: 1_000 });
    const taskId = await acceptTestTask(db, accountId, taskParam('a boat'));
    const text = `
with more as (
  insert into tasks (id, account_id, model, price_name, param, state, credits_charged, request_sha256, deadline_ms, created_at)
  select gen_random_uuid(), account_id, model, price_name, param, state, credits_charged, request_sha256, deadline_ms, created_at
  from tasks cross join generate_series(1, 500) where id = $1 returning 1
)
update accounts set unfinished_tasks = 501 where (select count(*) from more) = 500`;
    await db.run({ name: 'test-more-tasks', text, plannedAnew: true }, [taskId]);
    const unknown = Array.from({ length: 501 }, () => randomUUID());
    const terminated: string[] = [];
    const closings = ['close-account-1', 'close-account-2'];
    const client = clientOf([taskId, 'typed-by-hand', ...unknown], terminated, closings);
    assert.deepEqual(await refundRestoredTasks(db, client, taskQueuesOf('queue')), { refunded: 501, terminated: 503 });
    assert.deepEqual(terminated, [...unknown, ...closings]);
    const account = await findAccount(db, accountId);
    assert.deepEqual([account?.unfinishedTasks, account?.balance], [0, 1_000 + 500 * 132], 'one refund each');
    const due = await listDueTerminations(db, { after: undefined, limit: 1_000 });
    assert.equal(due.length, 501, '`reconcile` terminates their workflows');
    const again = await refundRestoredTasks(db, clientOf([], []), taskQueuesOf('queue'));
    assert.deepEqual(again, { refunded: 0, terminated: 0 });
  } finally {
    await database.close();
  }
});

test('a worker that has polled any of the queues lately is found by its name, and one that stopped is not', async () => {
  const queues = taskQueuesOf('queue');
  const find = (polled: string, agoSeconds: number) => {
    const lastAccessTime = msToTs(Date.now() - agoSeconds * 1_000);
    const client = {
      options: { namespace: 'default' },
      connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
      workflowService: {
        // `TASK_QUEUE_TYPE_ACTIVITY` of Temporal's API.
        describeTaskQueue: async ({ taskQueue: { name }, taskQueueType }: Described) => ({
          pollers: name === polled && taskQueueType === 2 ? [{ identity: 'a worker', lastAccessTime }] : [],
        }),
      },
    };
    return explainPollingWorker(client as unknown as Client, queues);
  };
  for (const name of queueNames) assert.match((await find(queues[name], 60)) ?? '', /^worker a worker has polled /);
  assert.equal(await find(queues.tasks, 3_600), undefined);
});

type Described = { readonly taskQueue: { readonly name: string }; readonly taskQueueType: number };
