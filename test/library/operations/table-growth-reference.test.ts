import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { deleteExpiredCallbackAttempts } from '../../../src/library/operations/delete-expired-rows.ts';
import { smallTables, tableGrowth } from '../../../src/library/operations/table-growth-reference.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('every table of the schema is listed once, as one that grows or as a small one', async () => {
  const rows = await database.db.run<{ readonly name: string }>({
    name: 'test-list-tables',
    text: `select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name not like 'kysely%'`,
  });
  const listed = [...Object.keys(tableGrowth), ...smallTables];
  assert.deepEqual(listed.toSorted(), rows.map(({ name }) => name).toSorted());
});

test('attempts at callbacks expire, also those of an old delivery that was repeated; later ones stay', async () => {
  const dayMs = 86_400_000;
  const [cutoff, old] = [Date.now() - 90 * dayMs, Date.now() - 100 * dayMs];
  const idAt = (ms: number) => {
    const hex = ms.toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`;
  };
  const [account] = await database.db.run<{ readonly id: string }>({
    name: 'test-account',
    text: `insert into accounts (id, name) values (gen_random_uuid(), 'old') returning id`,
  });
  const insert = (id: string, startedAt: readonly number[]) =>
    database.db.run(
      {
        name: 'test-insert-attempts',
        text: `with delivery as (
          insert into callback_deliveries (id, account_id, event, url, details) values ($1, $2, 'balance.low', 'http://x.test', '{}') returning id
        ) insert into callback_attempts (delivery_id, attempt, started_at, duration_ms)
          select id, position, to_timestamp(at / 1000), 1 from delivery, unnest($3::float8[]) with ordinality attempt (at, position)`,
      },
      [id, account?.id, startedAt],
    );
  const [first, repeated, atLimit, recent] = [idAt(old), idAt(old), idAt(old + 1), idAt(Date.now())];
  await insert(first, [old, cutoff - 1]);
  await insert(atLimit, [cutoff]);
  await insert(repeated, [old, Date.now()]);
  await insert(recent, [Date.now()]);
  assert.deepEqual(
    [
      await deleteExpiredCallbackAttempts(database.db, cutoff, 2),
      await deleteExpiredCallbackAttempts(database.db, cutoff, 2),
    ],
    [2, 1],
  );
  const left = await database.db.run<{ readonly delivery_id: string; readonly attempt: number }>({
    name: 'test-left-attempts',
    text: 'select delivery_id, attempt from callback_attempts order by delivery_id',
  });
  assert.deepEqual(
    left.map(({ delivery_id: id, attempt }) => [id, attempt]),
    [
      [repeated, 2],
      [atLimit, 1],
      [recent, 1],
    ],
  );
});
