import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import {
  type CapChange,
  findAndMarkExceededCap,
  listSpendCapsOfAccount,
  setSpendCaps,
} from '../../../src/accounts/limits/spend-caps.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { rolledBack } from '../../support/database/rolled-back.ts';
import { createFrozenDatabase, type FrozenDatabase } from '../../support/database/frozen-clock.ts';
import { listedTerms, requestOf, taskParam } from '../../support/tasks/tasks.ts';

const price = 132;
const [lateInYear, newYear] = ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'];
const failure = { failCode: 'cancelled', failMsg: 'Cancelled.' } as const;

let database: FrozenDatabase;
before(async () => {
  database = await createFrozenDatabase({ now: lateInYear });
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

async function newAccount(caps: CapChange): Promise<string> {
  const accountId = await createAccount(database.db, { name: 'caps', credits: 1_000 * price });
  await setCaps(accountId, caps);
  return accountId;
}

async function setCaps(accountId: string, caps: CapChange): Promise<void> {
  assert.ok(await setSpendCaps(database.db, accountId, { kind: 'account', id: accountId }, caps));
}

function newTask(accountId: string) {
  return { taskId: uuidv7(), accountId, ...requestOf(taskParam('caps')), ...listedTerms };
}

function create(accountId: string) {
  return acceptTaskAlone(database.db, newTask(accountId));
}

async function created(accountId: string): Promise<string> {
  const answer = await create(accountId);
  assert.ok(answer.kind === 'accepted', answer.kind);
  return answer.taskId;
}

async function spentOf(accountId: string): Promise<Readonly<Record<string, number>>> {
  const caps = await listSpendCapsOfAccount(database.db, accountId);
  return Object.fromEntries(caps.map(({ period, spent }) => [period, spent / price]));
}

test('a refusal names the cap, what was spent, what was required, and to the millisecond when it resets', async () => {
  for (const [now, period, resetsAt] of [
    [lateInYear, 'day', newYear],
    [lateInYear, 'month', newYear],
    [lateInYear, 'total', undefined],
    ['2028-02-28T00:00:00.000Z', 'day', '2028-02-29T00:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', 'month', '2028-03-01T00:00:00.000Z'],
  ] as const) {
    await database.set({ now });
    const accountId = await newAccount({ [period]: 2 * price - 1 });
    await created(accountId);
    const refused = await create(accountId);
    assert.ok(refused.kind === 'spend_cap_reached');
    const { resetsAt: atMs, ...cap } = refused.cap;
    const credits = 2 * price - 1;
    assert.deepEqual(cap, { subject: 'account', subjectId: accountId, period, credits, spent: price });
    assert.equal(refused.required, price);
    assert.equal(atMs, resetsAt === undefined ? undefined : Date.parse(resetsAt));
  }
});

test('at midnight UTC a day and a month start at nothing, and a late refund restores the total alone', async () => {
  await database.set({ now: '2026-12-30T12:00:00Z' });
  const accountId = await newAccount({ day: price, month: 2 * price, total: 4 * price });
  await created(accountId);
  await database.set({ now: lateInYear });
  const late = await created(accountId);
  assert.deepEqual(await spentOf(accountId), { day: 1, month: 2, total: 2 });
  assert.equal((await create(accountId)).kind, 'spend_cap_reached');
  await database.set({ now: newYear });
  assert.deepEqual(await spentOf(accountId), { day: 0, month: 0, total: 2 });
  await created(accountId);
  await failAndRefund(database.db, late, failure);
  assert.deepEqual(await spentOf(accountId), { day: 1, month: 1, total: 2 });
  assert.equal((await create(accountId)).kind, 'spend_cap_reached');
});

test('a create whose transaction began yesterday at the second try, too, counts for yesterday', async () => {
  await database.set({ now: newYear });
  const accountId = await newAccount({ day: 2 * price, month: 2 * price, total: 9 * price });
  await created(accountId);
  await database.set({ now: lateInYear, clock: newYear });
  const waited = await created(accountId);
  await database.set({ now: newYear });
  assert.deepEqual(await spentOf(accountId), { day: 1, month: 1, total: 2 });
  await created(accountId);
  await failAndRefund(database.db, waited, failure);
  assert.deepEqual(await spentOf(accountId), { day: 2, month: 2, total: 2 });
});

test('a create that waited for its account over midnight begins again, and exceeds no cap of either day', async () => {
  await database.set({ now: lateInYear });
  const accountId = await newAccount({ day: 2 * price });
  await created(accountId);
  await created(accountId);
  await database.set({ now: newYear });
  await created(accountId);
  await database.set({ now: lateInYear, clock: newYear });
  let transactions = 0;
  const db: Database = {
    ...database.db,
    transaction: async (work) => {
      transactions += 1;
      if (transactions === 2) await database.set({ now: newYear });
      return database.db.transaction(work);
    },
  };
  const waited = await acceptTaskAlone(db, newTask(accountId));
  assert.deepEqual([waited.kind, transactions], ['accepted', 2]);
  assert.deepEqual(await spentOf(accountId), { day: 2 });
  assert.equal((await create(accountId)).kind, 'spend_cap_reached');
});

test('a cap that is set later counts the tasks of its current period alone', async () => {
  await database.set({ now: lateInYear });
  const accountId = await newAccount({});
  await created(accountId);
  await database.set({ now: newYear });
  await created(accountId);
  await created(accountId);
  const cap = 9 * price;
  await setCaps(accountId, { day: cap, month: cap, total: cap });
  assert.deepEqual(await spentOf(accountId), { day: 2, month: 2, total: 3 });
});

test('a cap that waited for its account since yesterday counts what was created today', async () => {
  await database.set({ now: newYear });
  const accountId = await newAccount({});
  await created(accountId);
  await database.set({ now: lateInYear, clock: newYear });
  await setCaps(accountId, { day: 2 * price, month: 2 * price, total: 2 * price });
  await database.set({ now: newYear });
  assert.deepEqual(await spentOf(accountId), { day: 1, month: 1, total: 1 });
  await created(accountId);
  assert.equal((await create(accountId)).kind, 'spend_cap_reached');
});

test('of the caps that a charge would exceed the one that resets last is named and marked', async () => {
  await database.set({ now: '2026-12-30T12:00:00Z' });
  const accountId = await createAccount(database.db, { name: 'caps', credits: 0 });
  const stranger = await newAccount({ total: 1 });
  await rolledBack(database.db, async (db) => {
    const newKey = async () =>
      (await createKeyUnchecked(db, { accountId, name: 'a', scopes: [] }))?.keyId ?? assert.fail();
    const [keyId, other] = [await newKey(), await newKey()];
    assert.ok(await setSpendCaps(db, accountId, { kind: 'key', id: keyId }, { day: 5, month: 7, total: 9 }));
    assert.ok(await setSpendCaps(db, accountId, { kind: 'key', id: other }, { total: 1 }));
    const spend = (start: string) =>
      db.run({
        name: 'test-spend',
        text: `update spend_caps set spent = 3, ${start} where credits > 1`,
        plannedAnew: true,
      });
    await spend('reached_in = null');
    const reached = async () => {
      const text = 'select credits from spend_caps where reached_in is not null order by credits';
      return (await db.run<{ credits: number }>({ name: 'test-reached', text })).map(({ credits }) => credits);
    };
    const find = (credits: number, by = keyId) =>
      findAndMarkExceededCap(db, { accountId, keyId: by, userId: undefined, credits });
    const cap = { subject: 'key', subjectId: keyId, spent: 3 };
    assert.deepEqual([await find(2), await reached()], [undefined, []]);
    const ofDay = { ...cap, period: 'day', credits: 5, resetsAt: Date.parse('2026-12-31T00:00:00Z') };
    assert.deepEqual([await find(3), await reached()], [ofDay, [5]]);
    const ofMonth = { ...cap, period: 'month', credits: 7, resetsAt: Date.parse(newYear) };
    assert.deepEqual([await find(5), await reached()], [ofMonth, [5, 7]]);
    const total = { ...cap, period: 'total', credits: 9, resetsAt: undefined };
    assert.deepEqual([await find(7), await reached()], [total, [5, 7, 9]]);
    const ofOther = { ...cap, subjectId: other, spent: 0, period: 'total', credits: 1, resetsAt: undefined };
    assert.deepEqual([await find(2, other), await reached()], [ofOther, [1, 5, 7, 9]]);
    await spend(`reached_in = null, period_start = period_start - interval '1 day'`);
    assert.deepEqual([await find(5), await find(6), await reached()], [undefined, { ...ofDay, spent: 0 }, [1, 5]]);
  });
  assert.equal((await listSpendCapsOfAccount(database.db, stranger)).length, 1);
});
