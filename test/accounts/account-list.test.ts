import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AccountState, accountState, listAccounts } from '../../src/accounts/account-list.ts';
import { createAccount } from '../../src/credits/open-account.ts';
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
