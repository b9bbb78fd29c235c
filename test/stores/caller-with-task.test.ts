import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newApiKey } from '../../src/stores/api-key-format.ts';
import { createCallerFinder } from '../../src/stores/caller-with-task.ts';
import { createDatabase, type Database } from '../../src/stores/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestAccount } from '../support/service.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('callers who ask at the same time each get their own account and only their own task', async () => {
  const [one, other] = [await createTestAccount(database, 10_000), await createTestAccount(database, 10_000)];
  const ones = await acceptTestTask(database.db, one.accountId, taskParam('a'));
  const others = await acceptTestTask(database.db, other.accountId, taskParam('b'));
  const find = createCallerFinder(database.db);
  const found = await Promise.all([
    find(one.key, ones),
    find(other.key, ones),
    find(newApiKey(), ones),
    find(other.key, others),
    find(one.key),
    find('no key', ones),
    find(one.key, randomUUID()),
  ]);
  assert.deepEqual(
    found.map((answer) => answer && [answer.caller.accountId, answer.task?.taskId]),
    [
      [one.accountId, ones],
      [other.accountId, undefined],
      undefined,
      [other.accountId, others],
      [one.accountId, undefined],
      undefined,
      [one.accountId, undefined],
    ],
  );
});

test('pollers who come at the same time cost one statement', async () => {
  const { accountId, key } = await createTestAccount(database, 10_000);
  const taskId = await acceptTestTask(database.db, accountId, taskParam('a'));
  let statements = 0;
  const counted: Database = {
    ...database.db,
    run: (statement, values) => {
      statements += 1;
      return database.db.run(statement, values);
    },
  };
  const find = createCallerFinder(counted);
  await Promise.all(Array.from({ length: 32 }, () => find(key, taskId)));
  assert.equal(statements, 1);
});

test('one caller alone does not cost a new plan each time', async () => {
  const { key } = await createTestAccount(database, 10_000);
  const db = createDatabase({ url: database.url, poolSize: 1 });
  const find = createCallerFinder(db);
  for (let turn = 0; turn < 10; turn += 1) await find(key);
  const text = `select custom_plans from pg_prepared_statements where name = 'find-callers-with-tasks'`;
  const [plans] = await db.run<{ custom_plans: number }>({ name: 'test-plans', text });
  await db.close();
  // PostgreSQL tries five before it compares.
  assert.equal(plans?.custom_plans, 5);
});
