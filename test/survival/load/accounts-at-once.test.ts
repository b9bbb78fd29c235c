import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { bookCredits } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { listUnfinishedTasks } from '../../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { defaultConnectionQueueLimits } from '../../../src/platform/database/connection-queue-limits.ts';
import { createDatabase, type Database } from '../../../src/platform/database/database.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, entryKinds, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

const price = 165;
/** No create is refused because the machine is slow. */
const patience = { waitMs: 180_000 };

describe('one account, many concurrent requests, two API processes', () => {
  let database: TestDatabase;
  let pools: readonly Database[];
  let otherDb: Database;
  let processes: readonly HttpService[];
  before(async () => {
    database = await createTestDatabase();
    pools = [1, 2].map(() => createDatabase({ url: database.url, poolSize: 8, queue: patience }));
    const start = (db: Database) =>
      startHttpService({
        database,
        db,
        acceptCreate: createTaskAcceptor(db, { ...defaultConnectionQueueLimits, ...patience }),
      });
    processes = await Promise.all(pools.map(start));
    otherDb = pools[1] ?? database.db;
  });
  after(async () => {
    const violations = await auditLedger(database.db);
    for (const service of processes) await service.close();
    for (const pool of pools) await pool.close();
    await database.close();
    assert.deepEqual(violations, []);
  });

  const balanceOf = async (accountId: string) => (await findAccount(database.db, accountId))?.balance;
  const newAccount = async (credits: number) => {
    const [first] = processes;
    assert.ok(first);
    return first.newAccount(credits);
  };
  /** Concurrent creates, spread over the processes. */
  const createMany = (count: number, key: string, headers: (index: number) => Record<string, string> = () => ({})) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => {
        const service = processes[index % processes.length];
        assert.ok(service);
        return service.create(key, plainRequest, headers(index));
      }),
    );
  const counts = (answers: readonly Answer[]) =>
    Object.fromEntries(
      [...new Set(answers.map(({ status }) => status))].map((status) => [
        status,
        answers.filter((answer) => answer.status === status).length,
      ]),
    );

  test('of 300 creates exactly those that the balance covers are accepted, and the remainder is exact', async () => {
    const { accountId, key } = await newAccount(100 * price + 164);
    assert.deepEqual(counts(await createMany(300, key)), { 200: 100, 402: 200 });
    assert.equal(await balanceOf(accountId), 164);
  });

  test('above the account’s number of unfinished tasks creates are refused with 429 and nothing is charged', async () => {
    const { accountId, key } = await newAccount(100 * price);
    await administer(`update accounts set max_unfinished_tasks = 7 where id = '${accountId}'`);
    const answers = await createMany(60, key);
    assert.deepEqual(counts(answers), { 200: 7, 429: 53 });
    assert.equal(await balanceOf(accountId), 93 * price);
    assert.ok(answers.every(({ status, headers }) => status === 200 || /^\d+$/.test(String(headers['retry-after']))));
    const [task] = answers.filter(({ status }) => status === 200);
    await failAndRefund(database.db, String(task?.json.data['taskId']), { failCode: 'internal', failMsg: 'A test.' });
    assert.deepEqual(counts(await createMany(20, key)), { 200: 1, 429: 19 });
  });

  test('identical concurrent requests are one task and one charge, whichever process they reach', async () => {
    const { accountId, key } = await newAccount(price);
    const answers = await createMany(40, key, () => ({ 'idempotency-key': 'the-same' }));
    assert.deepEqual(counts(answers), { 200: 40 });
    assert.equal(new Set(answers.map(({ json }) => json.data['taskId'])).size, 1);
    assert.equal(await balanceOf(accountId), 0);
  });

  test('a replayed create starts a task that still waits for its workflow, and leaves one alone that has ended', async () => {
    const { key } = await newAccount(price);
    const [first, second] = processes;
    assert.ok(first && second);
    const create = (service: HttpService) => service.create(key, plainRequest, { 'idempotency-key': 'crashed' });
    const taskId = String((await create(first)).json.data['taskId']);
    const startedBySecond = () => second.started.filter((task) => task.taskId === taskId).length;
    assert.equal(startedBySecond(), 0);
    assert.equal((await create(second)).json.data['taskId'], taskId);
    assert.equal(startedBySecond(), 1, 'the first process may have died');
    await completeTask(database.db, taskId, madeUpResult);
    const late = await create(second);
    assert.deepEqual([late.status, late.json.data['taskId']], [200, taskId]);
    assert.equal(startedBySecond(), 1, 'a finished task is never started');
  });

  test('grants, charges, refunds and successes in a jumble neither deadlock nor lose a credit', async () => {
    const { accountId, key } = await newAccount(10 * price);
    const jumble = async (db: Database) => {
      for (const { taskId } of await listUnfinishedTasks(db, { minAgeMs: 0, limit: 5 })) {
        const failure = { failCode: 'internal', failMsg: 'A test.' } as const;
        await Promise.all([failAndRefund(db, taskId, failure), completeTask(otherDb, taskId, madeUpResult)]);
      }
    };
    const grants = 40;
    const work = [
      ...Array.from({ length: 12 }, () => () => createMany(10, key)),
      ...Array.from(
        { length: grants },
        () => () => bookCredits(otherDb, { accountId, kind: 'grant', amount: 7, reason: 'a test' }),
      ),
      ...Array.from({ length: 12 }, () => () => jumble(database.db)),
    ];
    await Promise.all(work.map((one) => one()));
    const { entries, charged } = await sums(accountId);
    assert.equal(await balanceOf(accountId), entries);
    assert.equal(entries, 10 * price + grants * 7 - charged);
  });

  test('of a concurrent cancellation and completion one wins, and the ledger agrees', async () => {
    const { accountId } = await newAccount(60 * 132);
    const failure = { failCode: 'cancelled', failMsg: 'The task was cancelled.' } as const;
    const ended = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const taskId = await acceptTestTask(database.db, accountId, taskParam('race'));
        const rivals = [failAndRefund(database.db, taskId, failure), completeTask(otherDb, taskId, madeUpResult)];
        if (index % 2 === 0) rivals.reverse();
        const [one, other] = await Promise.all(rivals);
        assert.equal(one?.task.state, other?.task.state, 'both see the same end');
        assert.equal([one, other].filter((end) => end?.changed === true).length, 1);
        const kinds = await entryKinds(database.db, taskId);
        assert.deepEqual(kinds, one?.task.state === 'fail' ? ['charge', 'refund'] : ['charge']);
        return one?.task.state;
      }),
    );
    assert.equal(await balanceOf(accountId), 132 * ended.filter((state) => state === 'fail').length);
  });

  /** The sum of an account's entries, and the price of its successful and unfinished tasks. */
  async function sums(accountId: string): Promise<{ entries: number; charged: number }> {
    const [row] = await administer(`
      select (select sum(amount) from ledger_entries where account_id = '${accountId}')::int as entries,
        coalesce((select sum(credits_charged) from tasks where account_id = '${accountId}' and state <> 'fail'), 0)::int
          as charged`);
    return row as { entries: number; charged: number }; // the two columns above
  }

  async function administer(statement: string): Promise<readonly unknown[]> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  }
});
