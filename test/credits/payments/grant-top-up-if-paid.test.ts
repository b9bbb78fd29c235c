import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { type Payment, PaymentsUnavailableError } from '../../../src/credits/payments/payment-provider.ts';
import { grantTopUpIfPaid } from '../../../src/credits/payments/grant-top-up-if-paid.ts';
import { applyPaymentAndReversals } from '../../../src/credits/payments/apply-payments-and-reversals.ts';
import { bookCredits } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { listUngrantedPayments } from '../../../src/credits/payments/payment-reconciliation.ts';
import { listTopUps } from '../../../src/credits/payments/top-ups.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { startRestartableServer } from '../../fakes/restartable-server.ts';
import { shell } from '../../support/service/person.ts';
import { deliverOne, openPaymentStage, type PaymentStage, providerAt, serviceUrl, starter } from './payment-stage.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

const records = () => stage.stripe.records;
const lastEvent = () => records().events.length - 1;

test('a payment grants its credits once, also when its events are repeated and arrive concurrently', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  records().pay(sessionId);
  const number = lastEvent();
  const emittedBefore = stage.emitted.length;
  await Promise.all([1, 2, 3, 4].map(() => deliverOne(stage.stripe, number, stage.deps)));
  await stage.deliver();
  assert.deepEqual(stage.emitted.slice(emittedBefore), [{ kind: 'payment_settled', outcome: 'granted' }]);
  assert.deepEqual(await stage.amountsOf(accountId), [starter.credits]);
  const [topUp] = await listTopUps(stage.database.db, { accountId, limit: 1 });
  assert.match(topUp?.receiptUrl ?? '', /^https:\/\/pay\.stripe\.com\/receipts\/ch_/);
  assert.deepEqual([topUp?.state, topUp?.settledBy, topUp?.isTest], ['paid', 'event', true]);
});

test('an event about a session that is not paid grants nothing, whatever the event claims', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  const session = records().sessions.get(sessionId);
  const forged = { ...session, status: 'complete', payment_status: 'paid', payment_intent: 'pi_forged' };
  records().events.push({ id: 'evt_forged', type: 'checkout.session.completed', created: 1, object: forged });
  await stage.deliver();
  assert.deepEqual([await stage.amountsOf(accountId), await stage.stateOf(accountId)], [[], ['open']]);
});

test('a delayed payment is granted when it arrives, and closes its purchase when it fails', async () => {
  const accountId = await stage.newAccount();
  const arrives = await stage.order(accountId);
  const fails = await stage.order(accountId);
  for (const { sessionId } of [arrives, fails]) records().pay(sessionId, { isDelayed: true });
  await stage.deliver();
  assert.deepEqual(
    [await stage.amountsOf(accountId), await stage.stateOf(accountId)],
    [[], ['processing', 'processing']],
  );
  records().endDelayed(arrives.sessionId, 'succeeded');
  records().endDelayed(fails.sessionId, 'failed');
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [starter.credits]);
  assert.deepEqual(await stage.stateOf(accountId), ['paid', 'failed']);
});

test('an expired session closes its purchase, and an outdated view of it opens none again', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  const outdated = await stage.provider.readCheckout(sessionId);
  assert.ok(outdated);
  records().expire(sessionId);
  await stage.deliver();
  await applyPaymentAndReversals(stage.deps, outdated, 'event');
  assert.deepEqual(await stage.stateOf(accountId), ['expired']);
});

test('a session of another software, of another installation or with another amount grants nothing', async () => {
  const accountId = await stage.newAccount();
  const { sessionId, topUpId } = await stage.order(accountId);
  const ours = records().sessions.get(sessionId);
  assert.ok(ours);
  // A payment link takes `client_reference_id` from its URL, so a customer can choose it.
  const link = records().open({ ...ours, metadata: {}, client_reference_id: topUpId, amount_total: 1 });
  const other = { ...ours.metadata, videogen_service: 'https://other.example', videogen_top_up: accountId };
  const elsewhere = records().open({ ...ours, client_reference_id: accountId, metadata: other });
  const cheap = records().open({ ...ours, amount_total: 1 });
  for (const { id } of [link, elsewhere, cheap]) records().pay(id);
  const emittedBefore = stage.emitted.length;
  await stage.deliver();
  const settled = (outcome: string) => ({ kind: 'payment_settled', outcome });
  assert.deepEqual(stage.emitted.slice(emittedBefore), ['unknown', 'unknown', 'not_granted'].map(settled));
  assert.deepEqual(await stage.amountsOf(accountId), []);
  const found = await listUngrantedPayments(stage.database.db, 10);
  assert.deepEqual(
    found.map(({ checkoutId, reason }) => [checkoutId, reason]),
    [[cheap.id, 'other_checkout']],
  );
});

test('a payment for a closed account is granted, so that it can be returned', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  await closeAccountAs(stage.database.db, shell, { accountId, reason: 'test' });
  records().refund(records().pay(sessionId), starter.price.minorUnits);
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [starter.credits, -starter.credits]);
});

test('a payment that would exceed the largest balance grants nothing and is reported, until there is room for it', async () => {
  const { db } = stage.database;
  const accountId = await stage.newAccount(Number.MAX_SAFE_INTEGER - starter.credits + 1);
  const { sessionId } = await stage.order(accountId);
  records().pay(sessionId);
  await stage.deliver();
  const reasons = async () =>
    (await listUngrantedPayments(db, 10)).flatMap(({ checkoutId, reason }) =>
      checkoutId === sessionId ? [reason] : [],
    );
  assert.deepEqual([await reasons(), await stage.stateOf(accountId)], [['balance_out_of_range'], ['open']]);
  await bookCredits(db, { accountId, kind: 'adjustment', amount: -1, reason: 'room' });
  await deliverOne(stage.stripe, lastEvent(), stage.deps);
  assert.deepEqual([await reasons(), await stage.stateOf(accountId)], [[], ['paid']]);
  assert.equal(await stage.balanceOf(accountId), Number.MAX_SAFE_INTEGER);
});

test('events about sessions and payments that are not ours are ignored, and counted', async () => {
  const emittedBefore = stage.emitted.length;
  const paymentId = records().pay(
    records().open({ amount_total: 5, currency: 'eur', client_reference_id: null, metadata: {} }).id,
  );
  records().refund(paymentId, 5);
  await stage.deliver();
  const unknown = { kind: 'payment_settled', outcome: 'unknown' };
  assert.deepEqual(stage.emitted.slice(emittedBefore), [unknown, unknown]);
});

test('an event that another secret signed, or that was signed more than 300 seconds ago, is refused', async () => {
  const accountId = await stage.newAccount();
  records().pay((await stage.order(accountId)).sessionId);
  const event = records().events.at(-1) ?? assert.fail();
  const requests = stage.stripe.exchanges.length;
  for (const how of [{ secret: 'whsec_forged' }, { ageSeconds: 310 }]) {
    const { body, signature } = stage.stripe.sign(event, how);
    const reading = providerAt(stage.stripe).readEvent(Buffer.from(body), () => signature);
    await assert.rejects(reading, { name: 'InvalidPaymentEventError' });
  }
  const { body, signature } = stage.stripe.sign(event);
  const changed = Buffer.from(body.replace('checkout.session.completed', 'checkout.session.expired'));
  await assert.rejects(
    stage.provider.readEvent(changed, () => signature),
    { name: 'InvalidPaymentEventError' },
  );
  assert.equal(stage.stripe.exchanges.length, requests, 'nothing was requested from Stripe');
});

const paid = { state: 'paid', paid_at: ago(9), settled_by: 'event' };
const notGranted = (reason: string) => ({ kind: 'not_granted', reason });
const differs = notGranted('amount_differs');

/** The row of a purchase before, if there was one; what the provider reports; the settlement, and the row after it. */
const settlements: readonly (readonly [
  string,
  object | undefined,
  Partial<Payment>,
  { readonly kind: string; readonly reason?: string },
  object | undefined,
])[] = [
  ['no order', { state: 'open' }, { order: undefined }, { kind: 'foreign' }, { state: 'open' }],
  [
    'a purchase of another installation',
    undefined,
    { serviceUrl: 'https://other.example' },
    { kind: 'foreign' },
    undefined,
  ],
  ['an unknown purchase that is open', undefined, { state: 'open' }, { kind: 'not_paid' }, undefined],
  ['an unknown purchase', undefined, {}, { kind: 'granted' }, { state: 'paid', checkout: 'cs', isTest: false }],
  [
    'a known one of another installation',
    {},
    { serviceUrl: 'https://other.example' },
    { kind: 'granted' },
    { state: 'paid', checkout: 'cs' },
  ],
  ['an open one', {}, {}, { kind: 'granted' }, { state: 'paid', checkout: 'cs' }],
  ['its checkout', { checkout_id: 'cs', state: 'failed' }, {}, { kind: 'granted' }, { state: 'paid', checkout: 'cs' }],
  ['another checkout', { checkout_id: 'cs_2' }, {}, notGranted('other_checkout'), { state: 'open', checkout: 'cs_2' }],
  [
    'another checkout that failed',
    { checkout_id: 'cs_2' },
    { state: 'failed' },
    { kind: 'not_paid' },
    { state: 'open', checkout: 'cs_2' },
  ],
  ['a paid one', { ...paid, checkout_id: 'cs' }, {}, { kind: 'already_granted' }, { state: 'paid', checkout: 'cs' }],
  ['another currency', {}, { currency: 'USD' }, differs, { state: 'open' }],
  ['another amount', {}, { minorUnits: starter.price.minorUnits + 1 }, differs, { state: 'open' }],
  ['one on its way', {}, { state: 'processing' }, { kind: 'not_paid' }, { state: 'processing', checkout: 'cs' }],
  [
    'one that failed',
    { state: 'processing' },
    { state: 'failed' },
    { kind: 'not_paid' },
    { state: 'failed', checkout: 'cs' },
  ],
  ['an outdated view', { state: 'processing' }, { state: 'open' }, { kind: 'not_paid' }, { state: 'processing' }],
  ['one that has ended', { state: 'expired' }, { state: 'failed' }, { kind: 'not_paid' }, { state: 'expired' }],
];

for (const [what, row, reported, { kind, reason }, expected] of settlements) {
  test(`a payment of ${what} is ${kind}, and only a grant books credits`, async () => {
    const [accountId, otherId] = [await stage.newAccount(), await stage.newAccount()];
    await rolledBack(stage.database.db, async (db) => {
      const order = { topUpId: randomUUID(), accountId, package: 'starter', credits: 7, ...starter.price };
      const { currency, minorUnits } = starter.price;
      const columns = {
        id: order.topUpId,
        account_id: accountId,
        package: 'starter',
        credits: 7,
        currency,
        minor_units: minorUnits,
      };
      const made = { ...columns, provider: 'stripe', is_test: true };
      if (row !== undefined) await insertRow(db, 'top_ups', { ...made, ...row });
      await insertRow(db, 'top_ups', { ...made, id: randomUUID(), account_id: otherId });
      const ungranted = { top_up_id: order.topUpId, account_id: accountId, reason: 'account_not_found' };
      for (const checkout of ['cs', 'cs_3'])
        await insertRow(db, 'ungranted_payments', { checkout_id: checkout, ...ungranted });
      const about = { checkoutId: 'cs', order, serviceUrl, isTest: false, paymentId: 'pi', receiptUrl: 'https://r' };
      const payment: Payment = { ...about, state: 'paid', currency, minorUnits, ...reported };
      const deps = { db, provider: stage.provider, serviceUrl };
      const settlement = await grantTopUpIfPaid(deps, payment, 'reconciliation');
      assert.deepEqual([settlement.kind, 'reason' in settlement ? settlement.reason : undefined], [kind, reason]);
      if ('topUp' in settlement) assert.equal(settlement.topUp.topUpId, order.topUpId);
      const isGranted = kind === 'granted';
      const [topUp] = await listTopUps(db, { accountId, limit: 1 });
      const shown = topUp && { state: topUp.state, checkout: topUp.checkoutId, isTest: topUp.isTest };
      assert.deepEqual(shown, expected && { checkout: undefined, isTest: true, ...expected });
      if (isGranted) {
        const { paymentId, receiptUrl, settledBy, paidAt } = topUp ?? assert.fail();
        assert.deepEqual(
          [paymentId, receiptUrl, settledBy, paidAt === undefined],
          ['pi', 'https://r', 'reconciliation', false],
        );
      }
      const text = `
select kind, amount::int, reason, balance_after::int as balance from ledger_entries where top_up_id = $1 or account_id = $2`;
      const entries = await db.run({ name: 'test-entries', text }, [order.topUpId, otherId]);
      const grant = { kind: 'grant', amount: 7, reason: 'Top-up starter', balance: 7 };
      assert.deepEqual(entries, isGranted ? [grant] : []);
      const found = await listUngrantedPayments(db, 99);
      const reasons = found.flatMap((one) => (one.checkoutId === 'cs' ? [one.reason as string] : []));
      assert.deepEqual(reasons, isGranted ? [] : [reason ?? 'account_not_found']);
      assert.ok(found.some(({ checkoutId }) => checkoutId === 'cs_3'));
      assert.equal((await listTopUps(db, { accountId: otherId, limit: 1 }))[0]?.state, 'open');
    });
  });
}

test('a payment for an account that the database does not have is not granted', async () => {
  await rolledBack(stage.database.db, async (db) => {
    const order = { topUpId: randomUUID(), accountId: randomUUID(), package: 'starter', credits: 7, ...starter.price };
    const about = { checkoutId: 'cs', order, serviceUrl, isTest: false, paymentId: 'pi', receiptUrl: undefined };
    const payment = { ...about, state: 'paid', ...starter.price } as const;
    const settlement = await grantTopUpIfPaid({ db, provider: stage.provider, serviceUrl }, payment, 'event');
    assert.deepEqual(settlement, { kind: 'not_granted', topUp: order, reason: 'account_not_found' });
    const [found] = (await listUngrantedPayments(db, 99)).filter(({ checkoutId }) => checkoutId === 'cs');
    const { foundAt: _at, ...fields } = found ?? assert.fail();
    const { topUpId, accountId } = order;
    assert.deepEqual(fields, { checkoutId: 'cs', reason: 'account_not_found', topUpId, accountId });
  });
});

const unusable = ['[]', '{}', 'null', '1', '"a list"', '{"object":"list"}', '{"object":"event","data":{"object":{}}}'];
for (const body of unusable) {
  test(`a response of Stripe that is ${body} means that Stripe is unavailable`, async () => {
    const server = await startRestartableServer(async (_request, response) => {
      response.setHeader('content-type', 'application/json').end(body);
    });
    try {
      const provider = providerAt(server);
      const order = {
        topUpId: randomUUID(),
        accountId: randomUUID(),
        package: 'starter',
        credits: 1,
        ...starter.price,
      };
      const urls = { successUrl: serviceUrl, cancelUrl: serviceUrl };
      const calls: readonly (() => Promise<unknown>)[] = [
        () => provider.readCheckout('cs_test_1'),
        () => provider.createCheckout({ order, title: 'Starter', ...urls }),
        () => provider.expireCheckout('cs_test_1'),
        () => provider.readReversals('pi_1', starter.price),
        () => provider.listFinishedCheckouts(0)[Symbol.asyncIterator]().next(),
        () => provider.listReversedPayments(0)[Symbol.asyncIterator]().next(),
      ];
      for (const call of calls) await assert.rejects(call, PaymentsUnavailableError);
    } finally {
      await server.close();
    }
  });
}
