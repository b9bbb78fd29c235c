import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { acceptBatch } from '../../../src/tasks/accept/accept-statement.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import type { NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { createDatabase, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { listTaskEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { listedPrices, listedTerms, perSecond, taskParam, requestOf } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// test/properties/any-accept-batch.test.ts covers acceptances and refusals.

const price = 132;
const options = { waits: false };

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

function newAccount(credits = 100 * price): Promise<string> {
  return createAccount(database.db, { name: 'batch', credits });
}

function taskOf(accountId: string, more: Partial<NewTask> = {}): NewTask {
  return { taskId: uuidv7(), accountId, ...requestOf(taskParam('batch')), ...listedTerms, ...more };
}

async function balanceOf(accountId: string): Promise<number | undefined> {
  return (await findAccount(database.db, accountId))?.balance;
}

/** Another connection locks the account's row until `work` ends. */
async function whileLocked(accountId: string, work: (rival: pg.Client) => Promise<void>): Promise<void> {
  const rival = new pg.Client({ connectionString: database.url });
  await rival.connect();
  await rival.query('begin');
  await rival.query('select from accounts where id = $1 for no key update', [accountId]);
  try {
    await work(rival);
  } finally {
    await rival.end();
  }
}

test('a batch that waits for a lock judges the account and the time after the wait', async () => {
  const { db } = database;
  const accountId = await newAccount(3 * price);
  const createRate = { quota: 1, windowMs: 60_000 };
  await whileLocked(accountId, async (rival) => {
    const change = `update accounts set balance = balance - ${price}, create_due_at = clock_timestamp() + interval '300 ms'`;
    await rival.query(`${change} where id = $1`, [accountId]);
    const answers = acceptBatch(db, [taskOf(accountId, { createRate }), taskOf(accountId, { createRate })], {
      waits: true,
    });
    const waiting = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%priced as materialized%'`;
    await waitFor('the creates to wait', async () => (await db.run({ name: 'test-waiting', text: waiting }))[0]);
    const due = `select true as is_over from accounts where create_due_at < clock_timestamp() and id = $1`;
    await waitFor('their time', async () => (await rival.query<{ is_over: true }>(due, [accountId])).rows[0]);
    await rival.query(`insert into ledger_entries (account_id, kind, amount, balance_after, reason)
      values ('${accountId}', 'adjustment', -${price}, ${2 * price}, 'a test')`);
    await rival.query('commit');
    const [first, second] = await answers;
    assert.ok(typeof first === 'object' && first.rate?.left.remaining === 0);
    assert.equal(second, 'not_accepted');
  });
  assert.equal(await balanceOf(accountId), price);
});

test('an unknown account is reported as locked', async () => {
  const free = await newAccount();
  const [missing, there] = await acceptBatch(database.db, [taskOf(uuidv7()), taskOf(free)], options);
  assert.deepEqual([missing, typeof there], ['locked', 'object']);
});

test('tasks of other catalogues, models, dialects and callbacks keep what is theirs', async () => {
  const accountId = await newAccount();
  const dear = [perSecond(60, 1_000), perSecond(50)];
  const soon = [perSecond(99, Date.now() + 3_600_000), ...listedPrices];
  const requested = [
    taskOf(accountId, { param: taskParam('one', {}, 'https://example.com/a'), dialect: 'kie' }),
    taskOf(accountId, { param: { ...taskParam('"two" \\ {3}, NULL'), model: 'videogen-2.0' }, listedPrices: dear }),
    taskOf(accountId, { idempotencyKey: 'NULL', listedPrices: soon }),
    taskOf(accountId, { listedPrices: [perSecond(33, Date.now() + 3_600_000)] }),
  ];
  const answers = await acceptBatch(database.db, requested, options);
  assert.deepEqual(
    answers.map((answer) => (typeof answer === 'string' ? answer : answer.creditsCharged)),
    [price, 4 * 60, price, 'not_accepted'],
  );
  const tasks = await Promise.all(requested.map(({ taskId }) => findTask(database.db, taskId)));
  assert.deepEqual(
    tasks.map((task) => task?.param),
    [...requested.slice(0, 3).map(({ param }) => param), undefined],
  );
  const text = 'select dialect, callback_url, idempotency_key from tasks where account_id = $1 order by id';
  assert.deepEqual(await database.db.run({ name: 'test-columns', text }, [accountId]), [
    { dialect: 'kie', callback_url: 'https://example.com/a', idempotency_key: null },
    { dialect: 'native', callback_url: null, idempotency_key: null },
    { dialect: 'native', callback_url: null, idempotency_key: 'NULL' },
  ]);
});

test('a statement of another length does not cost a new plan', async () => {
  const accountId = await newAccount();
  const db = createDatabase({ url: database.url, poolSize: 1 });
  for (const length of [2, 5, 1, 7, 3, 2, 9, 4, 6])
    await acceptBatch(
      db,
      Array.from({ length }, () => taskOf(accountId)),
      options,
    );
  const text = `select custom_plans from pg_prepared_statements where name = 'accept-tasks'`;
  const [plans] = await db.run<{ custom_plans: number }>({ name: 'test-plans', text });
  await db.close();
  // PostgreSQL tries five before it compares.
  assert.equal(plans?.custom_plans, 5);
});

/** Several prices that apply to the input; the first one that has begun is `b`. */
const severalPrices = [
  { name: 'a', creditsPerSecond: 90, creditsPerVideo: 0, fromMs: Date.now() + 3_600_000 },
  { name: 'b', creditsPerSecond: 30, creditsPerVideo: 12, fromMs: 0 },
  perSecond(20),
];

const terminateWaiting = {
  name: 'test-terminate-waiting',
  text: `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%priced as materialized%'`,
};

test('a create whose connection dies in the statement charges nothing, and is charged once when it is repeated', async () => {
  const { db } = database;
  const accountId = await newAccount();
  const task = taskOf(accountId, { listedPrices: severalPrices });
  await whileLocked(accountId, async () => {
    const lost = assert.rejects(acceptBatch(db, [task], { waits: true }), DatabaseUnavailableError);
    await waitFor('the create to be killed', async () => (await db.run(terminateWaiting))[0]);
    await lost;
  });
  assert.deepEqual([await balanceOf(accountId), await findTask(db, task.taskId)], [100 * price, undefined]);
  assert.deepEqual(await listTaskEntries(db, task.taskId), []);
  for (const kind of ['accepted', 'replayed']) assert.equal((await acceptTaskAlone(db, task)).kind, kind);
  const stored = await findTask(db, task.taskId);
  assert.deepEqual([stored?.priceName, stored?.creditsCharged], ['b', 132]);
  assert.equal(await balanceOf(accountId), 99 * price);
});

test('a create that fails behind its charge, in the same statement, charges nothing', async () => {
  const { db } = database;
  const accountId = await newAccount();
  // Only the row of the task refuses a name that is too long.
  const listed = severalPrices.map((one) => ({ ...one, name: 'x'.repeat(101) }));
  const task = taskOf(accountId, { listedPrices: listed });
  const sound = taskOf(accountId, { listedPrices: severalPrices });
  await assert.rejects(acceptBatch(db, [task], { waits: true }), /price_name_check/);
  await assert.rejects(acceptBatch(db, [sound, task], options), /price_name_check/);
  for (const { taskId } of [task, sound]) {
    assert.equal(await findTask(db, taskId), undefined);
    assert.deepEqual(await listTaskEntries(db, taskId), []);
  }
  const account = await findAccount(db, accountId);
  assert.deepEqual([account?.balance, account?.unfinishedTasks], [100 * price, 0]);
});
