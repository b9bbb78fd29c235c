import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  createFirstCallbackSecret,
  listCallbackSecrets,
  rotateCallbackSecret,
} from '../../src/stores/callback-secrets.ts';
import { createCallbackFinder } from '../../src/stores/callback-to-send.ts';
import type { Database } from '../../src/stores/database.ts';
import { askForRedelivery, findDelivery } from '../../src/stores/deliveries.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { owedCallback } from '../support/owed-callback.ts';
import { createTestAccount } from '../support/service.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const newAccount = async () => (await createTestAccount(database, 10_000)).accountId;

function counted(): { db: Database; statements: string[] } {
  const statements: string[] = [];
  const run: Database['run'] = (statement, values) => {
    statements.push(statement.name);
    return database.db.run(statement, values);
  };
  return { statements, db: { ...database.db, run } };
}

test('deliveries of several accounts asked for at once are told by one statement, each its own', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  const [ones, others] = [
    await owedCallback(database.db, one, 'http://one.example/', 'success'),
    await owedCallback(database.db, other, 'http://other.example/'),
  ];
  await createFirstCallbackSecret(database.db, one, 'sealed for one');
  const { db, statements } = counted();
  const find = createCallbackFinder(db);
  const found = await Promise.all([find(others.taskId), find(randomUUID()), find(ones.taskId), find(ones.taskId)]);
  assert.deepEqual(statements, ['find-callbacks-to-send']);
  for (const [index, { taskId }] of [[0, others] as const, [2, ones] as const, [3, ones] as const]) {
    const { round, state, ...delivery } = (await findDelivery(database.db, taskId)) ?? assert.fail();
    const { url, dialect, accountId } = delivery;
    assert.deepEqual(found[index]?.delivery, { taskId, accountId, url, dialect, state, round });
    assert.deepEqual(found[index]?.task, await findTask(database.db, taskId));
    assert.deepEqual(found[index]?.secrets, await listCallbackSecrets(database.db, accountId));
  }
  assert.equal(found[1], undefined);
  assert.deepEqual(
    found.map((answer) => answer?.secrets.length),
    [0, undefined, 1, 1],
  );
});

test('a task that runs, or that has no callback, has nothing to send', async () => {
  const accountId = await newAccount();
  const find = createCallbackFinder(database.db);
  const running = await acceptTestTask(database.db, accountId, taskParam('a', {}, 'http://receiver.example/'));
  assert.deepEqual([await find(running), await find(randomUUID())], [undefined, undefined]);
});

test('each attempt is told the secrets and the round of its own moment', async () => {
  const accountId = await newAccount();
  const { taskId } = await owedCallback(database.db, accountId, 'http://receiver.example/');
  const find = createCallbackFinder(database.db);
  await createFirstCallbackSecret(database.db, accountId, 'first');
  const sealed = async () =>
    (await find(taskId))?.secrets.map((secret) => [secret.sealed, secret.expiresAt !== undefined]);
  assert.deepEqual(await sealed(), [['first', false]]);
  await rotateCallbackSecret(database.db, { accountId, sealed: 'second', overlapSeconds: 60 });
  assert.deepEqual(await sealed(), [
    ['second', false],
    ['first', true],
  ]);
  assert.deepEqual((await find(taskId))?.secrets, await listCallbackSecrets(database.db, accountId));
  await rotateCallbackSecret(database.db, { accountId, sealed: 'third', overlapSeconds: 0 });
  assert.deepEqual(
    await sealed(),
    [
      ['third', false],
      ['first', true],
    ],
    'one whose overlap has ended signs nothing',
  );
  await askForRedelivery(database.db, taskId);
  assert.equal((await find(taskId))?.delivery.round, 2);
});
