import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDatabase, type Database } from '../../../src/platform/database/database.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { withAccountLock } from '../../../src/tasks/accept/account-lock.ts';
import { createTestDatabase, patientDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';

let database: TestDatabase;
/** The pool of another process. */
let elsewhere: Database;
before(async () => {
  database = await createTestDatabase();
  elsewhere = createDatabase({ url: database.url, poolSize: 2, ...patientDatabase });
});
after(async () => {
  await elsewhere.close();
  await database.close();
});

test('of two processes one holds the lock of an account, and another account does not wait for it', async () => {
  const [mine, other] = await Promise.all(
    ['mine', 'other'].map((name) => createAccount(database.db, { name, credits: 0 })),
  );
  assert.ok(mine !== undefined && other !== undefined);
  const order: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = withAccountLock(database.db, mine, async () => {
    order.push('first begins');
    await held;
    order.push('first ends');
  });
  await waitFor('the lock', () => order[0]);
  const second = withAccountLock(elsewhere, mine, async () => void order.push('second'));
  const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await waitFor('the wait for it', async () => (await database.db.run({ name: 'test-lock-waits', text }))[0]);
  await withAccountLock(elsewhere, other, async () => void order.push('other account'));
  release();
  await Promise.all([first, second]);
  assert.deepEqual(order, ['first begins', 'other account', 'first ends', 'second']);
});

/** A database whose locks are got on the same day, or after midnight. */
function playedDatabase(...isSameDay: readonly boolean[]) {
  const left = [...isSameDay];
  let begun = 0;
  const run = async () => [{ isSameDay: left.shift() }];
  const transaction = (work: (one: typeof run) => Promise<unknown>) => {
    begun += 1;
    return work(run);
  };
  const db = { transaction, runExclusive: (_key: string, work: () => Promise<unknown>) => work() };
  return { db: db as unknown as Database, begun: () => begun }; // the members that are used
}

test('a transaction that waited for the lock over midnight begins again, once, and does its work once', async () => {
  for (const [isSameDay, transactions] of [
    [[true], 1],
    [[false, true], 2],
    [[false, false], 2],
  ] as const) {
    const { db, begun } = playedDatabase(...isSameDay);
    let works = 0;
    assert.equal(await withAccountLock(db, 'a', async () => (works += 1)), 1);
    assert.deepEqual([begun(), works], [transactions, 1]);
  }
});
