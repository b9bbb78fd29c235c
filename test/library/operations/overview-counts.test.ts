import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  countUnfinishedTasks,
  readCallbackBacklog,
  sumTasksCreatedInDay,
  sumTasksEndedInDay,
} from '../../../src/library/operations/overview-counts.ts';
import { dayMs } from '../../../src/platform/timing/milliseconds-per-unit.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
let other: string;
before(async () => {
  database = await createTestDatabase();
  [accountId, other] = [
    await createAccount(database.db, { name: 'one', credits: 0 }),
    await createAccount(database.db, { name: 'other', credits: 0 }),
  ];
});
after(() => database.close());

const succeededAgo = (ms: number) => ({ state: 'success', result: '{}', completed_at: ago(ms) });

test('unfinished tasks of all accounts are counted by model and state, with the age of the oldest', async () => {
  await rolledBack(database.db, async (db) => {
    assert.deepEqual(await countUnfinishedTasks(db), []);
    for (const [account, model, state, ms] of [
      [accountId, 'b', 'waiting', 5_000],
      [other, 'b', 'waiting', 7_000],
      [accountId, 'b', 'waiting', 6_000],
      [accountId, 'b', 'queuing', 3 * dayMs],
      [accountId, 'b', 'generating', 2_000],
      [other, 'a', 'waiting', 1_000],
    ] as const)
      await insertTask(db, account, { model, state, created_at: ago(ms) });
    await insertTask(db, accountId, { model: 'b', created_at: ago(9_000), ...failedAgo(0) });
    await insertTask(db, accountId, { model: 'b', created_at: ago(9_000), ...succeededAgo(0) });
    assert.deepEqual(await countUnfinishedTasks(db), [
      { model: 'a', state: 'waiting', tasks: 1, oldestMs: 1_000 },
      { model: 'b', state: 'generating', tasks: 1, oldestMs: 2_000 },
      { model: 'b', state: 'queuing', tasks: 1, oldestMs: 3 * dayMs },
      { model: 'b', state: 'waiting', tasks: 3, oldestMs: 7_000 },
    ]);
  });
});

test('tasks created in the last 24 hours are counted in every state, with the credits that they were charged', async () => {
  await rolledBack(database.db, async (db) => {
    assert.deepEqual(await sumTasksCreatedInDay(db), { created: 0, charged: 0 });
    await insertTask(db, accountId, { credits_charged: 1, created_at: ago(dayMs - 1) });
    await insertTask(db, other, { credits_charged: 132, created_at: ago(2_000), ...failedAgo(1_000) });
    await insertTask(db, accountId, { credits_charged: 20, created_at: ago(2_000), ...succeededAgo(0) });
    await insertTask(db, accountId, { credits_charged: 1_000, created_at: ago(dayMs) });
    await insertTask(db, accountId, { credits_charged: 2_000, created_at: ago(2 * dayMs), ...succeededAgo(0) });
    assert.deepEqual(await sumTasksCreatedInDay(db), { created: 3, charged: 153 });
  });
});

test('the ends of the last 24 hours are counted by fail code with their refunds, the most frequent first, then by code', async () => {
  await rolledBack(database.db, async (db) => {
    assert.deepEqual(await sumTasksEndedInDay(db), []);
    const old = { created_at: ago(3 * dayMs) };
    await insertTask(db, accountId, { ...old, ...failedAgo(dayMs - 1, 'timeout') });
    await insertTask(db, other, { ...old, ...failedAgo(0, 'timeout') });
    await insertTask(db, accountId, { ...old, ...failedAgo(1, 'internal'), credits_charged: 7, credits_refunded: 7 });
    await insertTask(db, accountId, { ...old, ...failedAgo(1, 'cancelled') });
    for (let tasks = 0; tasks < 3; tasks += 1) await insertTask(db, accountId, { ...old, ...succeededAgo(tasks) });
    await insertTask(db, accountId, { ...old, ...failedAgo(dayMs, 'timeout') });
    await insertTask(db, accountId, { ...old, ...succeededAgo(dayMs) });
    await insertTask(db, accountId);
    assert.deepEqual(await sumTasksEndedInDay(db), [
      { failCode: undefined, tasks: 3, refunded: 0 },
      { failCode: 'timeout', tasks: 2, refunded: 264 },
      { failCode: 'cancelled', tasks: 1, refunded: 132 },
      { failCode: 'internal', tasks: 1, refunded: 7 },
    ]);
  });
});

test('a callback is due from its time on and overdue after a minute, and an undelivered one counts for 24 hours', async () => {
  await rolledBack(database.db, async (db) => {
    const none = { pending: 0, due: 0, overdue: 0, oldestDueMs: 0, undelivered: 0 };
    const add = (state: string, due: number, ended?: number) =>
      insertRow(db, 'callback_deliveries', {
        account_id: accountId,
        event: 'balance.low',
        url: 'http://events.test/',
        details: '{}',
        state,
        due_at: ago(due),
        ...(ended !== undefined && { finished_at: ago(ended) }),
      });
    assert.deepEqual(await readCallbackBacklog(db), none);
    await add('pending', -1);
    assert.deepEqual(await readCallbackBacklog(db), { ...none, pending: 1 });
    await add('pending', 0);
    assert.deepEqual(await readCallbackBacklog(db), { ...none, pending: 2, due: 1 });
    await add('pending', 60_000);
    assert.deepEqual(await readCallbackBacklog(db), { ...none, pending: 3, due: 2, oldestDueMs: 60_000 });
    await add('pending', 60_001);
    for (const state of ['failed', 'rejected', 'delivered'])
      for (const ended of [0, dayMs - 1, dayMs]) await add(state, 3 * dayMs, ended);
    assert.deepEqual(await readCallbackBacklog(db), {
      pending: 4,
      due: 3,
      overdue: 1,
      oldestDueMs: 60_001,
      undelivered: 4,
    });
  });
});
