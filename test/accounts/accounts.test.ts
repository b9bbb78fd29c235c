import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { findAccount, changeAccountLimitsAs, setAccountSuspendedAs } from '../../src/accounts/accounts.ts';
import { listOperatorActions } from '../../src/accounts/operators/audit-log.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { shell } from '../support/service/person.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('a suspension, its end and each change of limits are in the audit log once, and change no other account', async () => {
  const { db } = database;
  const [accountId, other] = [
    await createAccount(db, { name: 'one', credits: 0 }),
    await createAccount(db, { name: 'other', credits: 0 }),
  ];
  const untouched = await findAccount(db, other);
  const rate = { quota: 3, windowMs: 60_000 };
  const suspend = (suspended: boolean, reason: string) =>
    setAccountSuspendedAs(db, shell, { accountId, suspended, reason });
  const limit = (change: object) => changeAccountLimitsAs(db, shell, { accountId, ...change });
  const reasonOf = async () => {
    const text = 'select suspension_reason as reason from accounts where id = $1';
    return db.run<{ reason: string | null }>({ name: 'test-reason', text }, [accountId]);
  };
  await suspend(true, 'bills');
  await suspend(true, 'bills again');
  assert.deepEqual(await reasonOf(), [{ reason: 'bills' }]);
  await suspend(false, 'paid');
  await suspend(false, 'paid again');
  assert.deepEqual(await reasonOf(), [{ reason: null }]);
  for (const change of [{}, { maxUnfinishedTasks: 5 }, { maxUnfinishedTasks: 5 }, { createRate: rate }, {}])
    await limit(change);
  for (const change of [{ createRate: rate }, { createRate: null }, { createRate: null }]) await limit(change);
  const actions = await listOperatorActions(db, { limit: 20 });
  assert.ok(actions.every((action) => action.accountId === accountId));
  const limits = (maxUnfinishedTasks: number, creates: object | null) => ({ maxUnfinishedTasks, creates });
  assert.deepEqual(actions.map(({ action, details }) => [action, details]).toReversed(), [
    ['accounts.suspend', { reason: 'bills' }],
    ['accounts.unsuspend', { reason: 'paid' }],
    ['accounts.limits', { from: limits(1_000, null), to: limits(5, null) }],
    ['accounts.limits', { from: limits(5, null), to: limits(5, rate) }],
    ['accounts.limits', { from: limits(5, rate), to: limits(5, null) }],
  ]);
  assert.deepEqual(await findAccount(db, other), untouched);
});

test('an account that does not exist is neither suspended nor limited, and nothing is recorded', async () => {
  const { db } = database;
  const [accountId, earlier] = [randomUUID(), await listOperatorActions(db, { limit: 20 })];
  assert.equal(await setAccountSuspendedAs(db, shell, { accountId, suspended: true, reason: 'bills' }), undefined);
  assert.equal(await changeAccountLimitsAs(db, shell, { accountId, maxUnfinishedTasks: 5 }), undefined);
  assert.deepEqual(await listOperatorActions(db, { limit: 20 }), earlier);
});
