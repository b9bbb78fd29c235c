import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type AccountState, accountState, countKeysAndTasks, listAccounts } from '../../src/accounts/account-list.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const set = (id: string, column: 'suspended_at' | 'closed_at') =>
  database.db.run({ name: `test-${column}`, text: `update accounts set ${column} = now() where id = $1` }, [id]);

test('the state of an account is the one by which lists find it', async () => {
  const ids = await Promise.all(
    ['active', 'suspended', 'closed', 'closed while suspended'].map((name) =>
      createAccount(database.db, { name, credits: 0 }),
    ),
  );
  const [, suspended = '', closed = '', both = ''] = ids;
  for (const id of [suspended, both]) await set(id, 'suspended_at');
  for (const id of [closed, both]) await set(id, 'closed_at');
  const named = async (state?: AccountState) => {
    const found = await listAccounts(database.db, { state, limit: 10 });
    return found.map((account) => [account.name, accountState(account)]);
  };
  assert.deepEqual(await named('active'), [['active', 'active']]);
  assert.deepEqual(await named('suspended'), [['suspended', 'suspended']]);
  const bothClosed = [
    ['closed', 'closed'],
    ['closed while suspended', 'closed'],
  ];
  assert.deepEqual(await named('closed'), bothClosed);
  assert.deepEqual(await named(), [['active', 'active'], ...bothClosed, ['suspended', 'suspended']]);
});

test('an account has the number of its active keys, its unfinished tasks by state, and all its tasks', async () => {
  const accountId = await createAccount(database.db, { name: 'counted', credits: 0 });
  const other = await createAccount(database.db, { name: 'another', credits: 0 });
  await rolledBack(database.db, async (db) => {
    const newKey = (of: string, row: object = {}) =>
      insertRow(db, 'api_keys', {
        id: randomUUID(),
        account_id: of,
        name: 'a',
        hash: randomBytes(32),
        hint: '',
        scopes: [],
        ...row,
      });
    for (const row of [{}, { expires_at: ago(-1) }, { expires_at: ago(0) }, { revoked_at: ago(1) }])
      await newKey(accountId, row);
    await newKey(other);
    for (const [count, row] of [
      [1, { state: 'queuing' }],
      [2, {}],
      [3, { state: 'generating' }],
      [1, failedAgo(0)],
      [3, { state: 'success', result: '{}', completed_at: ago(0) }],
    ] as const)
      for (let index = 0; index < count; index += 1) await insertTask(db, accountId, row);
    await insertTask(db, other);
    const counts = { activeKeys: 2, waiting: 2, queuing: 1, generating: 3, tasks: 10 };
    assert.deepEqual(await countKeysAndTasks(db, accountId), counts);
    const ofOther = { activeKeys: 1, waiting: 1, queuing: 0, generating: 0, tasks: 1 };
    assert.deepEqual(await countKeysAndTasks(db, other), ofOther);
    const none = { activeKeys: 0, waiting: 0, queuing: 0, generating: 0, tasks: 0 };
    assert.deepEqual(await countKeysAndTasks(db, randomUUID()), none);
  });
});
