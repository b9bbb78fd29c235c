import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { createTaskStarter } from '../../src/temporal/task-starter.ts';
import { createFakeUpstream } from '../support/fake-upstream.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorkerWith } from '../support/worker-with.ts';

const backlog = 500;

test('behind 500 queued tasks of one account, another account’s single task is among the next ten', async () => {
  const environment = await createTestEnvironment({ GENERATION_CONCURRENCY: '2' });
  const { db } = environment.database;
  const upstream = createFakeUpstream({ instant: false });
  const temporal = connectTemporal(environment.settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
  const starter = createTaskStarter(engine.startTask, (error) => {
    throw error;
  });
  const worker = await startWorkerWith(environment.settings, upstream, { isRemote: false });
  try {
    const many = await createTestAccount(environment.database, 1_000_000);
    const single = await createTestAccount(environment.database);
    const order = async (accountId: string) => {
      const taskId = await acceptTestTask(db, accountId, taskParam('fair'));
      starter.start({ taskId, accountId, model: 'videogen-2.0-fast' });
      return taskId;
    };
    for (let index = 0; index < backlog; index += 1) await order(many.accountId);
    // Two of them hold the two places of generation until they are let go.
    await waitFor('the backlog', async () => ((await queued(many.accountId)) === backlog - 2 ? true : undefined));
    const taskId = await order(single.accountId);
    await waitFor('the other account’s task', async () => {
      const { pendingActivities } = await engine.describeTask(taskId);
      return pendingActivities.includes('generateVideo') ? true : undefined;
    });
    const before = upstream.asked.length;
    await upstream.whileFinishing(() => waitForEnd(db, taskId));
    const place = upstream.asked.indexOf(taskId) - before + 1;
    assert.ok(place <= 10, `it was number ${place}`);
    assert.equal((await findTask(db, taskId))?.state, 'success');
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await worker.close();
    await temporal.close();
    await environment.close();
  }

  async function queued(accountId: string): Promise<number> {
    const rows = await db.run<{ tasks: number }>(
      { name: 'count-queued', text: `select count(*) as tasks from tasks where account_id = $1 and state = 'queuing'` },
      [accountId],
    );
    return rows[0]?.tasks ?? 0;
  }
});
