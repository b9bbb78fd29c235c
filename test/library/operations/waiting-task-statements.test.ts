import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  countWaitingByReasonAndPool,
  listWaitingAccounts,
  listWaitingTasks,
} from '../../../src/library/operations/waiting-tasks.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const [one, other] = [uuid(1), uuid(2)];
type Row = Readonly<Record<string, unknown>>;

async function addAccountsAndPools(db: StatementRunner): Promise<void> {
  for (const [id, name] of [
    [one, 'One'],
    [other, 'Other'],
  ])
    await insertRow(db, 'accounts', { id, name });
  for (const [provider, failures, reason] of [
    ['busy', 2, 'busy'],
    ['drained', 1, 'operator'],
    ['free', 0, null],
  ] as const)
    await insertRow(db, 'provider_pools', { pool: `${provider}/m`, provider, failures, cooling_reason: reason });
  for (const [provider, state] of [
    ['drained', 'draining'],
    ['free', 'enabled'],
  ])
    await insertRow(db, 'provider_switches', { provider, state, reason: 'a test', who: 'ada' });
}

/** A wait for a slot, whose next request is due so many milliseconds after now. */
const wait = (db: StatementRunner, taskId: string, accountId: string, provider: string, dueIn: number, row: Row = {}) =>
  insertRow(db, 'slot_waits', {
    pool: `${provider}/m`,
    task_id: taskId,
    account_id: accountId,
    ticket: 1,
    due_at: ago(-dueIn),
    ...row,
  });

/** The time so many milliseconds after the transaction began, as statements return it. */
async function inMs(db: StatementRunner, ms: number): Promise<number | undefined> {
  const text = `select now() + $1 * interval '1 millisecond' as at`;
  return (await db.run<{ at: number }>({ name: 'test-time', text }, [ms]))[0]?.at;
}

const queuing = { state: 'queuing', attempt_seen_at: ago(0) };

test('a task that waits for providers has the reason of its next request, and a task that has ended does not wait', () =>
  rolledBack(database.db, async (db) => {
    await addAccountsAndPools(db);
    let age = 9_000_000;
    const add = (id: number, accountId: string, row: Row = queuing) =>
      insertTask(db, accountId, { id: uuid(id), created_at: ago((age -= 1_000_000)), ...row });
    await add(19, one);
    await wait(db, uuid(19), one, 'free', -60_001);
    await add(18, other, { ...queuing, model: 'n' });
    await wait(db, uuid(18), other, 'free', -60_000, { ticket: 7 });
    // The same account is first at another provider.
    await add(17, one);
    await wait(db, uuid(17), one, 'drained', 1_000);
    await wait(db, uuid(17), one, 'free', 1_001);
    await add(16, other);
    await wait(db, uuid(16), other, 'busy', 2_000);
    await add(15, one);
    await wait(db, uuid(15), one, 'free', 3_000, { ticket: 2, queued_at: ago(1) });
    age += 1_000_000;
    await add(14, one);
    await wait(db, uuid(14), one, 'free', 4_000, { ticket: 2, queued_at: ago(2) });
    for (const ended of [failedAgo(0), { state: 'success', result: '{}', completed_at: ago(0) }])
      await wait(db, await insertTask(db, one, ended), one, 'free', 5_000, { ticket: 0, queued_at: ago(9_000) });
    const none = { provider: undefined, pool: undefined, coolingReason: undefined, nextAt: undefined };
    const at = (provider: string) => ({ ...none, provider, pool: `${provider}/m` });
    const ofOne = { accountId: one, accountName: 'One', model: 'm' };
    const ofOther = { accountId: other, accountName: 'Other', model: 'm' };
    const listed = await listWaitingTasks(db);
    assert.deepEqual(listed, [
      { taskId: uuid(19), ...ofOne, ...at('free'), reason: 'worker', ageMs: 8_000_000 },
      {
        taskId: uuid(18),
        ...ofOther,
        model: 'n',
        ...at('free'),
        reason: 'provider_limit',
        ageMs: 7_000_000,
        nextAt: await inMs(db, -60_000),
      },
      {
        taskId: uuid(17),
        ...ofOne,
        ...at('drained'),
        reason: 'provider_disabled',
        ageMs: 6_000_000,
        nextAt: await inMs(db, 1_000),
      },
      {
        taskId: uuid(16),
        ...ofOther,
        ...at('busy'),
        reason: 'provider_cooldown',
        coolingReason: 'busy',
        ageMs: 5_000_000,
        nextAt: await inMs(db, 2_000),
      },
      {
        taskId: uuid(14),
        ...ofOne,
        ...at('free'),
        reason: 'account_queue',
        ageMs: 4_000_000,
        nextAt: await inMs(db, 4_000),
      },
      {
        taskId: uuid(15),
        ...ofOne,
        ...at('free'),
        reason: 'account_queue',
        ageMs: 4_000_000,
        nextAt: await inMs(db, 3_000),
      },
    ]);
    assert.deepEqual(await countWaitingByReasonAndPool(db), [
      { ...at('free'), reason: 'account_queue', tasks: 2, oldestMs: 4_000_000, nextAt: await inMs(db, 3_000) },
      {
        ...at('busy'),
        reason: 'provider_cooldown',
        coolingReason: 'busy',
        tasks: 1,
        oldestMs: 5_000_000,
        nextAt: await inMs(db, 2_000),
      },
      { ...at('drained'), reason: 'provider_disabled', tasks: 1, oldestMs: 6_000_000, nextAt: await inMs(db, 1_000) },
      { ...at('free'), reason: 'provider_limit', tasks: 1, oldestMs: 7_000_000, nextAt: await inMs(db, -60_000) },
      { ...at('free'), reason: 'worker', tasks: 1, oldestMs: 8_000_000 },
    ]);
    assert.deepEqual(await listWaitingAccounts(db), [
      { accountId: one, accountName: 'One', tasks: 4, oldestMs: 8_000_000 },
      { accountId: other, accountName: 'Other', tasks: 2, oldestMs: 7_000_000 },
    ]);
  }));

test('of the tasks of an account at one provider the first has the lowest ticket, then the longest wait', () =>
  rolledBack(database.db, async (db) => {
    await addAccountsAndPools(db);
    for (const [id, ticket, queuedMs] of [
      [11, 2, 9_000],
      [12, 1, 1_000],
      [13, 1, 2_000],
    ] as const) {
      await insertTask(db, one, { id: uuid(id), ...queuing });
      await wait(db, uuid(id), one, 'free', 1_000, { ticket, queued_at: ago(queuedMs) });
    }
    assert.deepEqual(
      (await listWaitingTasks(db)).map(({ taskId, reason }) => [taskId, reason]),
      [
        [uuid(11), 'account_queue'],
        [uuid(12), 'account_queue'],
        [uuid(13), 'provider_limit'],
      ],
    );
  }));

test('a task without a wait for a slot waits for its retry, for its start or for a worker, each after its grace', () =>
  rolledBack(database.db, async (db) => {
    await addAccountsAndPools(db);
    const job = (taskId: string, row: Row) =>
      insertRow(db, 'provider_jobs', { task_id: taskId, ordinal: 1, provider: 'free', intended_at: ago(0), ...row });
    const expected: (readonly [number, string | undefined, Row])[] = [
      [11, 'start', { state: 'waiting', created_at: ago(10_001) }],
      [12, undefined, { state: 'waiting', created_at: ago(10_000) }],
      [13, 'worker', { state: 'queuing', attempt_seen_at: ago(120_001) }],
      [14, undefined, { state: 'queuing', attempt_seen_at: ago(120_000) }],
      [15, 'worker', { state: 'queuing' }],
      [16, undefined, { state: 'generating', attempt_seen_at: ago(9_000_000), created_at: ago(9_000_000) }],
      [17, undefined, { ...queuing, retry_at: ago(0) }],
      [18, 'retry', { ...queuing, retry_at: ago(-1) }],
      [19, 'lost_response', { state: 'generating', retry_at: ago(-2) }],
      [20, 'retry', { ...queuing, retry_at: ago(-3) }],
      [21, 'retry', { ...queuing, retry_at: ago(-4) }],
    ];
    for (const [id, , row] of expected) await insertTask(db, one, { id: uuid(id), ...row });
    await job(uuid(19), {});
    await job(uuid(20), { job_id: 'a job' });
    await job(uuid(21), { outcome: 'not_created', ended_at: ago(0) });
    const waiting = await listWaitingTasks(db);
    const reasons = expected.flatMap(([id, reason]) => (reason === undefined ? [] : [[uuid(id), reason]]));
    const byId = waiting.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1));
    assert.deepEqual(
      byId.map(({ taskId, reason }) => [taskId, reason]),
      reasons,
    );
    const nextOf = (id: number) => waiting.find(({ taskId }) => taskId === uuid(id))?.nextAt;
    assert.deepEqual([nextOf(11), nextOf(13), nextOf(18)], [undefined, undefined, await inMs(db, 1)]);
    assert.deepEqual(
      (await countWaitingByReasonAndPool(db)).map(({ reason, tasks }) => [reason, tasks]),
      [
        ['retry', 3],
        ['worker', 2],
        ['lost_response', 1],
        ['start', 1],
      ],
    );
  }));

test('the ten accounts with the most waiting tasks are listed, of equal ones those of the oldest, and the 50 oldest tasks', () =>
  rolledBack(database.db, async (db) => {
    for (let account = 1; account <= 11; account += 1) {
      await insertRow(db, 'accounts', { id: uuid(account), name: `account ${account}` });
      for (let tasks = 0; tasks < (account === 5 ? 6 : 5); tasks += 1)
        await insertTask(db, uuid(account), {
          state: 'queuing',
          created_at: ago(account * 60_000 - tasks),
        });
    }
    const accounts = await listWaitingAccounts(db);
    assert.deepEqual(accounts[0], { accountId: uuid(5), accountName: 'account 5', tasks: 6, oldestMs: 300_000 });
    assert.deepEqual(
      accounts.slice(1).map(({ accountName, tasks, oldestMs }) => [accountName, tasks, oldestMs]),
      [11, 10, 9, 8, 7, 6, 4, 3, 2].map((account) => [`account ${account}`, 5, account * 60_000]),
    );
    const tasks = await listWaitingTasks(db);
    assert.deepEqual([tasks.length, tasks[0]?.ageMs, tasks.at(-1)?.ageMs], [50, 660_000, 120_000 - 3]);
  }));
