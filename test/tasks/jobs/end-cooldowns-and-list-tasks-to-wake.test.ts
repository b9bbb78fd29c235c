import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import {
  maxTasksWokenByOperator,
  endWaitsForProviderAs,
  endWaitOfTaskAs,
} from '../../../src/tasks/jobs/end-cooldowns-and-list-tasks-to-wake.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'waits', credits: 0 });
});
after(() => database.close());

/** Pools whose cooldown lasts for so many milliseconds more. */
async function addPools(db: StatementRunner, pools: Readonly<Record<string, number>>): Promise<void> {
  for (const [pool, ms] of Object.entries(pools))
    await insertRow(db, 'provider_pools', { pool, provider: pool.split('/')[0], failures: 2, cooling_until: ago(-ms) });
}

async function coolingOf(db: StatementRunner): Promise<Readonly<Record<string, number>>> {
  const text = `
select pool, failures, (extract(epoch from cooling_until - now()) * 1000)::float8 as ms from provider_pools order by pool`;
  const rows = await db.run<{ pool: string; failures: number; ms: number }>({ name: 'test-cooling', text });
  assert.ok(
    rows.every(({ failures }) => failures === 2),
    'a breaker stays half open',
  );
  return Object.fromEntries(rows.map(({ pool, ms }) => [pool, ms]));
}

async function wait(db: StatementRunner, pool: string, ticket = 1, queuedMs = 0, taskId?: string): Promise<string> {
  const of = taskId ?? (await insertTask(db, accountId));
  const row = { pool, task_id: of, account_id: accountId, ticket, queued_at: ago(queuedMs), due_at: ago(0) };
  await insertRow(db, 'slot_waits', row);
  return of;
}

const actionsOf = async (db: StatementRunner) =>
  (await listOperatorActions(db, { limit: 100 })).map(({ action, accountId: of, taskId, details }) => ({
    action,
    of,
    taskId,
    details,
  }));

test('a retry of a task ends the cooldowns that it waits for, and no other ones, and is recorded', () =>
  rolledBack(database.db, async (db) => {
    await addPools(db, { 'a/1': 5, 'b/1': -5, 'c/1': 5, 'd/1': 5 });
    const taskId = await wait(db, 'a/1');
    await wait(db, 'b/1', 1, 0, taskId);
    await wait(db, 'd/1', 1, 0, taskId);
    await wait(db, 'c/1');
    const ended = await wait(db, 'c/1', 1, 0, await insertTask(db, accountId, failedAgo(0)));
    const reason = 'it works again';
    assert.deepEqual(await endWaitOfTaskAs(db, shell, { taskId: ended, reason }), { isRetried: false });
    assert.equal(await endWaitOfTaskAs(db, shell, { taskId: randomUUID(), reason }), undefined);
    assert.deepEqual([await actionsOf(db), await coolingOf(db)], [[], { 'a/1': 5, 'b/1': -5, 'c/1': 5, 'd/1': 5 }]);
    assert.deepEqual(await endWaitOfTaskAs(db, shell, { taskId, reason }), { isRetried: true });
    assert.deepEqual(await coolingOf(db), { 'a/1': 0, 'b/1': -5, 'c/1': 5, 'd/1': 0 });
    assert.deepEqual(await actionsOf(db), [{ action: 'tasks.retry', of: accountId, taskId, details: { reason } }]);
  }));

test('a retry of a provider wakes the first tasks of its queues, then those whose job is to be followed again', () =>
  rolledBack(database.db, async (db) => {
    await addPools(db, { 'a/1': 5, 'a/2': -5, 'b/1': 5 });
    const follows = async (row: object, job: object = {}) => {
      const taskId = await insertTask(db, accountId, { retry_at: ago(-1), ...row });
      await insertRow(db, 'provider_jobs', { task_id: taskId, ordinal: 1, provider: 'a', pool: 'a/1', ...job });
      return taskId;
    };
    const later = await follows({ created_at: ago(10) });
    const earlier = await follows({ created_at: ago(20) });
    const [third, second, first] = [await wait(db, 'a/1', 3), await wait(db, 'a/2', 2), await wait(db, 'a/1', 1)];
    // None of these is woken.
    await wait(db, 'b/1');
    await follows({}, { provider: 'b' });
    await follows({}, { outcome: 'fail' });
    await follows({ retry_at: ago(0) });
    await follows(failedAgo(0));
    await wait(db, 'b/1', 1, 0, await follows({}));
    const reason = 'it works again';
    const woken = await endWaitsForProviderAs(db, shell, { provider: 'a', reason });
    assert.deepEqual(woken, [first, second, third, earlier, later]);
    assert.deepEqual(await coolingOf(db), { 'a/1': 0, 'a/2': -5, 'b/1': 5 });
    const details = { provider: 'a', tasks: 5, reason };
    const nothing = { of: undefined, taskId: undefined };
    assert.deepEqual(await actionsOf(db), [{ action: 'tasks.retry', ...nothing, details }]);
  }));

test('a retry of a provider wakes a hundred tasks at most, those that have waited longest at their turn', () =>
  rolledBack(database.db, async (db) => {
    await addPools(db, { 'a/1': 5 });
    const waiting: string[] = [];
    while (waiting.length <= 100) waiting.push(await wait(db, 'a/1', 7, 1_000 - waiting.length));
    const woken = await endWaitsForProviderAs(db, shell, { provider: 'a', reason: 'it works again' });
    assert.equal(maxTasksWokenByOperator, 100);
    assert.deepEqual([...woken].toSorted(), waiting.slice(0, 100).toSorted());
  }));
