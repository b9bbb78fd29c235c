import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { AccountClosedError } from '../../../src/accounts/accounts.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { listOpenCheckouts } from '../../../src/credits/payments/expire-or-settle-checkout.ts';
import {
  abandonTopUp,
  createTopUpOrder,
  expireTopUpOfUnknownCheckout,
  expireTopUpsWithoutCheckout,
  findTopUpByPayment,
  insertTopUpRow,
  listTopUps,
  listUnfinishedTopUps,
  recordCheckout,
} from '../../../src/credits/payments/top-ups.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const provider = { name: 'stripe', isTest: false } as const;
const offer = { title: 'Starter', credits: 10_000, price: { currency: 'EUR', minorUnits: 999 } };
const hourMs = 3_600_000;
const newAccount = (name = 'buyer') => createAccount(database.db, { name, credits: 0 });

let rows = 0;
/** Ids grow with each row. */
async function addTopUp(
  db: StatementRunner,
  accountId: string,
  row: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = `00000000-0000-4000-8000-${String((rows += 1)).padStart(12, '0')}`;
  const order = { id, account_id: accountId, provider: 'stripe', is_test: true, package: 'starter', credits: 10 };
  await insertRow(db, 'top_ups', { ...order, currency: 'EUR', minor_units: 999, ...row });
  return id;
}
const paid = { state: 'paid', paid_at: ago(5), settled_by: 'event' };

const statesOf = async (db: StatementRunner) =>
  (await db.run<{ state: string }>({ name: 'test-states', text: 'select state from top_ups order by id' })).map(
    ({ state }) => state,
  );

test('an order is written for an open account with fewer than twenty open purchases, and is listed as it was made', async () => {
  const [accountId, suspended, closed] = [await newAccount(), await newAccount(), await newAccount()];
  await rolledBack(database.db, async (db) => {
    await db.run({ name: 'test-suspend', text: 'update accounts set suspended_at = now() where id = $1' }, [suspended]);
    await db.run({ name: 'test-close', text: 'update accounts set closed_at = now() where id = $1' }, [closed]);
    const create = (of: string) => createTopUpOrder(db, provider, { accountId: of, name: 'small', offer });
    assert.deepEqual(await create(suspended), { kind: 'account_suspended' });
    await assert.rejects(create(closed), AccountClosedError);
    await assert.rejects(create(randomUUID()), /not found/);
    for (let open = 0; open < 19; open += 1) await addTopUp(db, accountId);
    for (const state of ['failed', 'expired', 'processing']) await addTopUp(db, accountId, { state });
    for (let open = 0; open < 20; open += 1) await addTopUp(db, suspended);
    const made = await create(accountId);
    assert.ok(made.kind === 'opened');
    const order = { accountId, package: 'small', credits: 10_000, currency: 'EUR', minorUnits: 999 };
    assert.deepEqual(made.order, { topUpId: made.order.topUpId, ...order });
    const [listed] = await listTopUps(db, { accountId, limit: 1 });
    const { createdAt, ...topUp } = listed ?? assert.fail();
    assert.ok(createdAt > 0);
    assert.deepEqual(topUp, {
      ...made.order,
      provider: 'stripe',
      isTest: false,
      state: 'open',
      checkoutId: undefined,
      paymentId: undefined,
      receiptUrl: undefined,
      settledBy: undefined,
      paidAt: undefined,
      reversedCredits: 0,
      accountName: 'buyer',
    });
    assert.deepEqual(await create(accountId), { kind: 'too_many_top_ups' });
    const earlier = await statesOf(db);
    await insertTopUpRow(db, made.order, provider);
    await insertTopUpRow(db, { ...made.order, topUpId: randomUUID(), accountId: randomUUID() }, provider);
    assert.deepEqual(await statesOf(db), earlier, 'an order that exists, and one of an unknown account');
  });
});

test('purchases are listed by account and state, the newest first, in pages, with what was taken back', async () => {
  const [own, other] = [await newAccount('own'), await newAccount('other')];
  await rolledBack(database.db, async (db) => {
    const ids = [
      await addTopUp(db, own, { ...paid, payment_id: 'pi_1', receipt_url: 'https://r', reversals_version: 3 }),
      await addTopUp(db, own),
      await addTopUp(db, other, { ...paid, payment_id: 'pi_2' }),
      await addTopUp(db, own, { state: 'failed' }),
    ] as const;
    for (const [topUpId, kind, amount] of [
      [ids[0], 'grant', 10],
      [ids[0], 'adjustment', -3],
      [ids[0], 'adjustment', -4],
      [ids[2], 'adjustment', -5],
    ] as const) {
      const entry = {
        account_id: topUpId === ids[2] ? other : own,
        kind,
        amount,
        balance_after: 0,
        top_up_id: topUpId,
      };
      await insertRow(db, 'ledger_entries', entry);
    }
    const list = async (filter: Partial<Parameters<typeof listTopUps>[1]>) =>
      (await listTopUps(db, { limit: 9, ...filter })).map(({ topUpId }) => topUpId);
    assert.deepEqual(await list({}), ids.toReversed());
    assert.deepEqual(await list({ accountId: own }), [ids[3], ids[1], ids[0]]);
    assert.deepEqual(await list({ state: 'paid' }), [ids[2], ids[0]]);
    assert.deepEqual(await list({ accountId: own, before: ids[3], limit: 1 }), [ids[1]]);
    assert.deepEqual(await list({ accountId: own, before: ids[1] }), [ids[0]]);
    const [first] = await listTopUps(db, { accountId: own, state: 'paid', limit: 9 });
    const { paymentId, receiptUrl, settledBy, reversedCredits, accountName, paidAt = 0, createdAt = 0 } = first ?? {};
    assert.deepEqual(
      [paymentId, receiptUrl, settledBy, reversedCredits, accountName],
      ['pi_1', 'https://r', 'event', 7, 'own'],
    );
    assert.ok(createdAt - paidAt >= 4 && createdAt - paidAt <= 6);
    const found = await findTopUpByPayment(db, 'pi_1');
    const { accountName: _name, ...rest } = first ?? assert.fail();
    assert.deepEqual(found, { ...rest, version: 3 });
    assert.equal((await findTopUpByPayment(db, 'pi_2'))?.topUpId, ids[2]);
    assert.equal(await findTopUpByPayment(db, 'pi_3'), undefined);
  });
});

test('a checkout is recorded once, and only an open purchase fails or expires, one that is old enough', async () => {
  const accountId = await newAccount();
  await rolledBack(database.db, async (db) => {
    const checkouts = async () => (await listTopUps(db, { accountId, limit: 99 })).map(({ checkoutId }) => checkoutId);
    const [first] = [await addTopUp(db, accountId), await addTopUp(db, accountId)];
    await recordCheckout(db, first, 'cs_1');
    await recordCheckout(db, first, 'cs_2');
    assert.deepEqual(await checkouts(), [undefined, 'cs_1']);
    const paidId = await addTopUp(db, accountId, paid);
    for (const id of [first, paidId]) await abandonTopUp(db, id);
    assert.deepEqual(await statesOf(db), ['failed', 'open', 'paid']);
  });
  await rolledBack(database.db, async (db) => {
    const limit = Date.parse('2026-01-05T00:00:00Z');
    const at = (ms: number) => ({ created_at: new Date(limit + ms) });
    for (const row of [at(-1), at(0), { ...at(-1), checkout_id: 'cs_0' }, { ...at(-1), state: 'failed' }])
      await addTopUp(db, accountId, row);
    await expireTopUpsWithoutCheckout(db, limit);
    assert.deepEqual(await statesOf(db), ['expired', 'open', 'open', 'failed']);
    for (const row of [
      { ...at(0), checkout_id: 'cs_1' },
      { ...at(-1), checkout_id: 'cs_2', state: 'processing' },
    ])
      await addTopUp(db, accountId, row);
    for (const checkout of ['cs_0', 'cs_1', 'cs_2']) await expireTopUpOfUnknownCheckout(db, checkout, limit);
    assert.deepEqual(await statesOf(db), ['expired', 'open', 'expired', 'failed', 'open', 'processing']);
  });
});

test('unfinished purchases with a checkout are listed from their age on, in pages', async () => {
  const accountId = await newAccount();
  await rolledBack(database.db, async (db) => {
    const limit = Date.parse('2026-01-05T00:00:00Z');
    const old = { created_at: new Date(limit - 1) };
    const listed = [
      { topUpId: await addTopUp(db, accountId, { ...old, checkout_id: 'cs_1' }), checkoutId: 'cs_1' },
      {
        topUpId: await addTopUp(db, accountId, { ...old, checkout_id: 'cs_2', state: 'processing' }),
        checkoutId: 'cs_2',
      },
    ] as const;
    for (const row of [
      old,
      { created_at: new Date(limit), checkout_id: 'cs_3' },
      { ...old, checkout_id: 'cs_4', ...paid },
      { ...old, checkout_id: 'cs_5', state: 'expired' },
      { ...old, checkout_id: 'cs_6', state: 'failed' },
    ])
      await addTopUp(db, accountId, row);
    assert.deepEqual(await listUnfinishedTopUps(db, limit, undefined, 9), listed);
    assert.deepEqual(await listUnfinishedTopUps(db, limit, undefined, 1), listed.slice(0, 1));
    assert.deepEqual(await listUnfinishedTopUps(db, limit, listed[0].topUpId, 9), listed.slice(1));
  });
});

test('the checkouts of an account that may still be paid are those of the last 25 hours, twenty at most', async () => {
  const [accountId, other] = [await newAccount(), await newAccount()];
  await rolledBack(database.db, async (db) => {
    const open = { checkout_id: 'cs_1', created_at: ago(25 * hourMs - 1) };
    await addTopUp(db, accountId, open);
    for (const row of [
      {},
      { checkout_id: 'cs_2', created_at: ago(25 * hourMs) },
      { checkout_id: 'cs_3', state: 'processing' },
      { checkout_id: 'cs_4', ...paid },
    ])
      await addTopUp(db, accountId, row);
    await addTopUp(db, other, { checkout_id: 'cs_5' });
    assert.deepEqual(await listOpenCheckouts(db, accountId), [{ checkoutId: 'cs_1' }]);
    for (let more = 0; more < 20; more += 1) await addTopUp(db, accountId, { checkout_id: `cs_more_${more}` });
    const checkouts = await listOpenCheckouts(db, accountId);
    assert.deepEqual([checkouts.length, checkouts.at(-1)], [20, { checkoutId: 'cs_more_18' }]);
  });
});
