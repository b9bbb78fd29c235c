import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { PaymentsUnavailable } from '../../../src/credits/payments/payment-provider.ts';
import { applyPayment } from '../../../src/credits/payments/apply-payments.ts';
import { bookCredits } from '../../../src/credits/ledger/ledger-entries.ts';
import { listUngrantedPayments } from '../../../src/credits/payments/payment-reconciliation.ts';
import { listTopUps } from '../../../src/credits/payments/top-ups.ts';
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
  await applyPayment(stage.deps, outdated, 'event');
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
    await assert.rejects(reading, { name: 'InvalidEvent' });
  }
  const { body, signature } = stage.stripe.sign(event);
  const changed = Buffer.from(body.replace('checkout.session.completed', 'checkout.session.expired'));
  await assert.rejects(
    stage.provider.readEvent(changed, () => signature),
    { name: 'InvalidEvent' },
  );
  assert.equal(stage.stripe.exchanges.length, requests, 'nothing was requested from Stripe');
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
      for (const call of calls) await assert.rejects(call, PaymentsUnavailable);
    } finally {
      await server.close();
    }
  });
}
