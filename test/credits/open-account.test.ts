import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../src/accounts/accounts.ts';
import { listOperatorActions } from '../../src/accounts/operators/audit-log.ts';
import { readBalanceAndEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createAccountIfNone, openAccountAs } from '../../src/credits/open-account.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { shell } from '../support/service/person.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('the first account is opened once; one that an operator opens is in the audit log; both books begin with the grant', async () => {
  const { db } = database;
  const first = await createAccountIfNone(db, { name: 'first', credits: 30 });
  assert.ok(first !== undefined);
  assert.equal(await createAccountIfNone(db, { name: 'second', credits: 40 }), undefined);
  const opened = await openAccountAs(db, shell, { name: 'opened', credits: 50 });
  const { accountId, createdAt, ...fields } = opened;
  assert.deepEqual(await findAccount(db, accountId), opened);
  const limits = { unfinishedTasks: 0, maxUnfinishedTasks: 1_000, createRate: undefined };
  const open = { ...limits, suspendedAt: undefined, closedAt: undefined };
  assert.deepEqual(fields, { name: 'opened', balance: 50, ...open });
  assert.ok(Math.abs(createdAt - Date.now()) < 3_600_000);
  const actions = await listOperatorActions(db, { limit: 9 });
  assert.deepEqual(
    actions.map((one) => [one.action, one.accountId, one.actor, one.details]),
    [['accounts.create', accountId, shell, { name: 'opened', credits: 50 }]],
  );
  for (const [id, amount] of [
    [first, 30],
    [accountId, 50],
  ] as const) {
    const { balance, entries } = await readBalanceAndEntries(db, { accountId: id, limit: 9 });
    assert.equal(balance, amount);
    assert.deepEqual(
      entries.map((entry) => [entry.kind, entry.amount, entry.balanceAfter, entry.taskId]),
      [['grant', amount, amount, undefined]],
    );
  }
});
