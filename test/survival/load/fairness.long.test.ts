import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInstallation, model } from '../../support/service/test-installation.ts';
import { createTestAccount } from '../../support/service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

const backlog = 500;

test('behind 500 queued tasks of one account, another account’s single task is among the next ten', async () => {
  const { database, db, engine, upstream, startWorker, close } = await createInstallation({
    GENERATION_CONCURRENCY: '2',
  });
  try {
    await startWorker({ catalogue: { isRemote: false } });
    const many = await createTestAccount(database, 1_000_000);
    const single = await createTestAccount(database);
    const start = async (accountId: string) => {
      const taskId = await acceptTestTask(db, accountId, taskParam('fair'));
      await engine.startTask({ taskId, accountId, model });
      return taskId;
    };
    const countQueued = {
      name: 'count-queued',
      text: `select count(*)::int as tasks from tasks where account_id = $1 and state = 'queuing'`,
    };
    for (let index = 0; index < backlog; index += 1) await start(many.accountId);
    // Two of them hold the two slots of generation until they are finished.
    await waitFor('the backlog', async () => {
      const [row] = await db.run<{ tasks: number }>(countQueued, [many.accountId]);
      return row?.tasks === backlog - 2 ? true : undefined;
    });
    const taskId = await start(single.accountId);
    await waitFor('the other account’s task', async () => {
      const { pendingActivities } = await engine.describeTask(taskId);
      return pendingActivities.includes('generateVideo') ? true : undefined;
    });
    const before = upstream.asked.length;
    await upstream.whileFinishing(async () => {
      assert.equal((await waitForEnd(db, taskId)).state, 'success');
    });
    const place = upstream.asked.indexOf(taskId) - before + 1;
    assert.ok(place <= 10, `it was number ${place}`);
  } finally {
    await close();
  }
});
