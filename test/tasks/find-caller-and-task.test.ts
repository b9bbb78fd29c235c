import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { generateApiKey } from '../../src/accounts/keys/key-format.ts';
import { createCallerAndTaskFinder } from '../../src/tasks/find-caller-and-task.ts';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { createTestAccount } from '../support/service/test-service.ts';
import { acceptTestTask, taskParam } from '../support/tasks/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('concurrent callers each get their own account and only their own task', async () => {
  const [one, other] = [await createTestAccount(database, 10_000), await createTestAccount(database, 10_000)];
  const ones = await acceptTestTask(database.db, one.accountId, taskParam('a'));
  const others = await acceptTestTask(database.db, other.accountId, taskParam('b'));
  const find = createCallerAndTaskFinder(database.db);
  const found = await Promise.all([
    find(one.key, ones),
    find(other.key, ones),
    find(generateApiKey(), ones),
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

test('pollers who come at the same time cost one statement, up to a hundred of them', async () => {
  const { accountId, key } = await createTestAccount(database, 10_000);
  const taskId = await acceptTestTask(database.db, accountId, taskParam('a'));
  const { statements, db } = counted();
  const find = createCallerAndTaskFinder(db);
  await Promise.all(Array.from({ length: 32 }, () => find(key, taskId)));
  assert.deepEqual(statements, [32]);
  const found = await Promise.all(Array.from({ length: 250 }, () => find(key, taskId)));
  assert.deepEqual(statements, [32, 100, 100, 50]);
  assert.ok(found.every((answer) => answer?.task?.taskId === taskId));
});

test('polls that open one after another hold four connections at most, and the next caller waits behind four statements', async () => {
  const { accountId, key } = await createTestAccount(database, 10_000);
  const taskId = await acceptTestTask(database.db, accountId, taskParam('a'));
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const sizes: number[] = [];
  const find = createCallerAndTaskFinder({
    ...database.db,
    run: async (statement, values) => {
      const [hashes] = values ?? [];
      sizes.push(Array.isArray(hashes) ? hashes.length : 0);
      await opened;
      return database.db.run(statement, values);
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const found: ReturnType<typeof find>[] = [];
  for (let poll = 0; poll < 300; poll += 1) {
    found.push(find(key, taskId));
    await turn();
  }
  assert.deepEqual(sizes, [1, 1, 1, 1]);
  const read = find(key);
  await turn();
  open();
  assert.ok(await read);
  assert.ok((await Promise.all(found)).every((one) => one?.task?.taskId === taskId));
  assert.deepEqual(sizes, [1, 1, 1, 1, 100, 100, 97]);
});

/** Records the number of keys of each statement. */
function counted(): { readonly statements: number[]; readonly db: Database } {
  const statements: number[] = [];
  const db: Database = {
    ...database.db,
    run: (statement, values) => {
      const [keys] = values ?? [];
      statements.push(Array.isArray(keys) ? keys.length : 0);
      return database.db.run(statement, values);
    },
  };
  return { statements, db };
}

test('one caller alone does not cost a new plan each time', async () => {
  const { key } = await createTestAccount(database, 10_000);
  const db = createDatabase({ url: database.url, poolSize: 1 });
  const find = createCallerAndTaskFinder(db);
  for (let turn = 0; turn < 10; turn += 1) await find(key);
  const text = `select custom_plans from pg_prepared_statements where name = 'find-callers-with-tasks'`;
  const [plans] = await db.run<{ custom_plans: number }>({ name: 'test-plans', text });
  await db.close();
  // PostgreSQL tries five before it compares.
  assert.equal(plans?.custom_plans, 5);
});
