import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  findBalanceAndThreshold,
  setLowBalanceThreshold,
} from '../../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('the threshold of an account is set and removed without that of another one, and stays once it is closed', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'own', credits: 30 });
  const other = await createAccount(db, { name: 'other', credits: 40 });
  const read = () => Promise.all([accountId, other].map((id) => findBalanceAndThreshold(db, id)));
  const ofOther = { balance: 40, lowBalance: undefined };
  assert.deepEqual(await read(), [{ balance: 30, lowBalance: undefined }, ofOther]);
  await setLowBalanceThreshold(db, accountId, 5);
  assert.deepEqual(await read(), [{ balance: 30, lowBalance: 5 }, ofOther]);
  await setLowBalanceThreshold(db, accountId, null);
  assert.deepEqual(await read(), [{ balance: 30, lowBalance: undefined }, ofOther]);
  await setLowBalanceThreshold(db, accountId, 7);
  await closeAccountAs(db, shell, { accountId, reason: 'test' });
  await assert.rejects(setLowBalanceThreshold(db, accountId, 8), { name: 'AccountClosedError' });
  assert.equal((await findBalanceAndThreshold(db, accountId))?.lowBalance, 7);
  assert.equal(await findBalanceAndThreshold(db, randomUUID()), undefined);
});
