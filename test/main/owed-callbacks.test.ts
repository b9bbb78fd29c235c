import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { defaultModels, modelCatalogue } from '../../src/domain/models.ts';
import { createFolderStore } from '../support/folder-store.ts';
import { createSecretBox } from '../../src/outbound/secrets.ts';
import { callbackSecretsOf, rotateSecret } from '../../src/main/account-secrets.ts';
import { createOwedCallbacks } from '../../src/main/owed-callbacks.ts';
import { createAccount } from '../../src/stores/accounts.ts';
import { askForRedelivery } from '../../src/stores/deliveries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { owedCallback } from '../support/owed-callback.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';

const box = createSecretBox('the key from the configuration');
const store = createFolderStore('.');
let database: TestDatabase;
let find: ReturnType<typeof createOwedCallbacks>;
before(async () => {
  database = await createTestDatabase();
  find = createOwedCallbacks(database.db, box, store, () => modelCatalogue(defaultModels));
});
after(() => database.close());

const newAccount = () => createAccount(database.db, { name: 'test', credits: 1_000 });

test('a callback says how its own task ended, and is signed with the secrets of its own account', async () => {
  for (const state of ['success', 'fail'] as const) {
    const accountId = await newAccount();
    const { taskId } = await owedCallback(database.db, accountId, 'http://receiver.example/', state);
    const owed = (await find(taskId)) ?? assert.fail();
    assert.deepEqual([owed.taskId, owed.accountId, owed.url], [taskId, accountId, 'http://receiver.example/']);
    assert.deepEqual([owed.state, owed.round, owed.dialect], ['pending', 1, 'native']);
    const body = JSON.stringify(await owed.body());
    assert.ok(body.includes(taskId) && body.includes(state));
    assert.deepEqual(await owed.secrets(), await callbackSecretsOf(database.db, box, accountId));
  }
});

test('a task that runs, or that has no callback, has nothing to send', async () => {
  const accountId = await newAccount();
  const running = await acceptTestTask(database.db, accountId, taskParam('a', {}, 'http://receiver.example/'));
  assert.deepEqual([await find(running), await find(randomUUID())], [undefined, undefined]);
});

test('each attempt reads the secrets and the round as they are when it begins', async () => {
  const accountId = await newAccount();
  const { taskId } = await owedCallback(database.db, accountId, 'http://receiver.example/');
  const signing = async () => (await find(taskId))?.secrets();
  const [first] = (await signing()) ?? [];
  const second = await rotateSecret(database.db, box, { accountId, overlapSeconds: 60 });
  assert.deepEqual(await signing(), [second, first]);
  const third = await rotateSecret(database.db, box, { accountId, overlapSeconds: 0 });
  assert.deepEqual(await signing(), [third, first], 'one whose overlap has ended signs nothing');
  await askForRedelivery(database.db, taskId);
  assert.equal((await find(taskId))?.round, 2);
});
