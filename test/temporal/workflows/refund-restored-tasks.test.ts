import type { Client } from '@temporalio/client';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { refundRestoredTasks } from '../../../src/temporal/workflows/refund-restored-tasks.ts';
import { taskQueuesOf } from '../../../src/temporal/connection/task-queues.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

/** Lists these workflows of tasks, and notes which are terminated. */
function clientOf(workflowIds: readonly string[], terminated: string[]): Client {
  const client = {
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflow: {
      list: async function* ({ query }: { readonly query: string }) {
        if (query.includes("'videoTask'"))
          for (const workflowId of workflowIds) yield await Promise.resolve({ workflowId });
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
    const client = clientOf([taskId, 'typed-by-hand', ...unknown], terminated);
    assert.deepEqual(await refundRestoredTasks(db, client, taskQueuesOf('queue')), { refunded: 501, terminated: 501 });
    assert.deepEqual(terminated, unknown);
    assert.equal((await findAccount(db, accountId))?.unfinishedTasks, 0);
    const again = await refundRestoredTasks(db, clientOf([], []), taskQueuesOf('queue'));
    assert.deepEqual(again, { refunded: 0, terminated: 0 });
  } finally {
    await database.close();
  }
});
