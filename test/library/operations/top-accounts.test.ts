import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listTopAccounts } from '../../../src/library/operations/trends.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

test('accounts are listed by the credits or the tasks since a time, equal ones by id, twenty at most', () =>
  rolledBack(database.db, async (db) => {
    const [now] = await db.run<{ at: number }>({ name: 'test-now', text: 'select now() as at' });
    const fromMs = (now?.at ?? 0) - 60_000;
    const add = async (account: number, rows: readonly Readonly<Record<string, unknown>>[]) => {
      await insertRow(db, 'accounts', { id: uuid(account), name: `account ${account}` });
      for (const row of rows)
        await insertTask(db, uuid(account), { created_at: ago(59_000), credits_charged: 10, ...row });
    };
    const succeeded = { state: 'success', result: '{}', completed_at: ago(0) };
    const failed = { ...failedAgo(0), credits_refunded: 10 };
    // The oldest of its tasks was created before the time.
    await add(5, [succeeded, {}, { created_at: ago(61_000), credits_charged: 5_000 }]);
    await add(4, [failed, failed, failed, { credits_charged: 11, ...succeeded }]);
    await add(3, [{ credits_charged: 500 }]);
    await add(7, [{ created_at: ago(61_000) }]);
    const figures = (account: number, tasks: number, succeededTasks: number, credits: number) => ({
      accountId: uuid(account),
      accountName: `account ${account}`,
      tasks,
      succeeded: succeededTasks,
      credits,
    });
    const [three, four, five] = [figures(3, 1, 0, 500), figures(4, 4, 1, 11), figures(5, 2, 1, 20)];
    assert.deepEqual(await listTopAccounts(db, fromMs, 'credits'), [three, five, four]);
    assert.deepEqual(await listTopAccounts(db, fromMs, 'tasks'), [four, five, three]);
    const equal = Array.from({ length: 20 }, (_, index) => 30 - index);
    for (const account of equal) await add(account, [{}]);
    const listed = await listTopAccounts(db, fromMs, 'credits');
    assert.deepEqual(listed, [
      three,
      five,
      four,
      ...equal
        .toReversed()
        .slice(0, 17)
        .map((account) => figures(account, 1, 0, 10)),
    ]);
  }));
