import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import {
  type Booking,
  bookCreditsAs,
  listTaskEntries,
} from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const book = (booking: Booking) => bookCreditsAs(database.db, shell, booking);

test('the entries of a task are its charge and its refund, with the price, and those of no other task', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'sold', credits: 1_000 });
  const taskId = await acceptTestTask(db, accountId, taskParam('a'));
  const other = await acceptTestTask(db, accountId, taskParam('b'));
  await failAndRefund(db, taskId, { failCode: 'internal', failMsg: 'It failed.' });
  const entriesOf = async (id: string) =>
    (await listTaskEntries(db, id)).map(({ entryId: _id, createdAt: _at, ...entry }) => entry);
  const entry = { taskId, priceName: 'standard', reason: undefined };
  assert.deepEqual(await entriesOf(taskId), [
    { ...entry, kind: 'charge', amount: -132, balanceAfter: 868 },
    { ...entry, kind: 'refund', amount: 132, balanceAfter: 868 },
  ]);
  const charge = { ...entry, taskId: other, kind: 'charge', amount: -132, balanceAfter: 736 };
  assert.deepEqual(await entriesOf(other), [charge]);
});

test('an operator books once under a key; the same booking again is the same entry, and another one is refused', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'booked', credits: 10 });
  const other = await createAccount(db, { name: 'other', credits: 20 });
  const booking: Booking = { accountId, kind: 'grant', amount: 5, reason: 'thanks', idempotencyKey: 'key 1' };
  const first = await book(booking);
  assert.ok(first.kind === 'booked');
  const { entryId, createdAt: _at, ...entry } = first.entry;
  const about = { taskId: undefined, priceName: undefined, reason: 'thanks' };
  assert.deepEqual(entry, { ...about, kind: 'grant', amount: 5, balanceAfter: 15 });
  const again = await book(booking);
  assert.deepEqual(again, { kind: 'replayed', entry: { ...first.entry, isSame: true } });
  for (const change of [{ amount: 6 }, { reason: 'sorry' }, { kind: 'adjustment' }, { accountId: other }] as const)
    assert.deepEqual(await book({ ...booking, ...change }), { kind: 'key_reused' }, JSON.stringify(change));
  const adjusted = await book({ ...booking, kind: 'adjustment', amount: -4, idempotencyKey: 'key 2' });
  assert.ok(adjusted.kind === 'booked');
  assert.equal(adjusted.entry.balanceAfter, 11);
  const tooMuch = { ...booking, kind: 'adjustment', amount: -12, idempotencyKey: undefined } as const;
  assert.deepEqual(await book(tooMuch), { kind: 'balance_out_of_range', balance: 11 });
  assert.deepEqual(await book({ ...booking, accountId: randomUUID() }), { kind: 'account_not_found' });
  const actions = (await listOperatorActions(db, { limit: 9 })).map(({ action, accountId: of, details }) => [
    action,
    of,
    details,
  ]);
  assert.deepEqual(actions, [
    ['credits.adjust', accountId, { amount: -4, balance: 11, reason: 'thanks', entryId: adjusted.entry.entryId }],
    ['credits.grant', accountId, { amount: 5, balance: 15, reason: 'thanks', entryId }],
  ]);
});

test('two accounts that book under one key at the same time get one entry', async () => {
  const { db } = database;
  const accounts = [
    await createAccount(db, { name: 'one', credits: 0 }),
    await createAccount(db, { name: 'two', credits: 0 }),
  ];
  const both = await Promise.all(
    accounts.map((accountId) => book({ accountId, kind: 'grant', amount: 5, reason: 'x', idempotencyKey: 'shared' })),
  );
  assert.deepEqual(new Set(both.map(({ kind }) => kind)), new Set(['booked', 'key_reused']));
});

test('a closed account gets no grant, but its books may be corrected', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'closed', credits: 10 });
  await closeAccountAs(db, shell, { accountId, reason: 'test' });
  const booking = { accountId, amount: 5, reason: 'x' };
  await assert.rejects(book({ ...booking, kind: 'grant' }), { name: 'AccountClosedError' });
  const corrected = await book({ ...booking, kind: 'adjustment' });
  assert.equal(corrected.kind, 'booked');
});
