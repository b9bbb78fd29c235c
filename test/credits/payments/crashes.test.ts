import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { atEachAwait } from './mortal-deps.ts';
import { openPaymentStage, type PaymentStage, starter } from './payment-stage.ts';

// A process dies; then another one gets what the customer and Stripe send again.

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

const records = () => stage.stripe.records;
const { credits } = starter;

test('an API that dies at any await of a checkout start loses no payment: what is paid is granted once', async () => {
  const calls = await atEachAwait(stage.deps, async (dies) => {
    const accountId = await stage.newAccount();
    const known = new Set(records().sessions.keys());
    await dies((deps) => stage.order(accountId, deps));
    // The customer pays each session that exists, also one whose address was lost.
    const made = [...records().sessions.keys()].filter((id) => !known.has(id));
    assert.ok(made.length <= 1);
    for (const sessionId of made) records().pay(sessionId);
    await stage.deliver();
    await stage.deliver();
    assert.deepEqual(
      await stage.amountsOf(accountId),
      made.map(() => credits),
    );
  });
  assert.ok(calls.includes('createCheckout') && calls.includes('create-top-up') && calls.includes('record-checkout'));
});

test('an API that dies at any await of an event grants once, after Stripe has repeated the event', async () => {
  const calls = await atEachAwait(stage.deps, async (dies) => {
    const accountId = await stage.newAccount();
    const { sessionId } = await stage.order(accountId);
    records().pay(sessionId);
    await dies((deps) => stage.deliver(deps));
    await stage.deliver();
    assert.deepEqual(await stage.amountsOf(accountId), [credits]);
  });
  assert.ok(['readCheckout', 'lock-top-up', 'mark-top-up-paid', 'book-credits'].every((name) => calls.includes(name)));
});

test('an API that dies at any await of a refund books it once, after Stripe has repeated the event', async () => {
  const calls = await atEachAwait(stage.deps, async (dies) => {
    const accountId = await stage.newAccount();
    const { paymentId } = await stage.buy(accountId);
    records().refund(paymentId, 999);
    await dies((deps) => stage.deliver(deps));
    await stage.deliver();
    assert.deepEqual(await stage.amountsOf(accountId), [credits, -credits]);
  });
  assert.ok(['readReversals', 'store-reversal', 'book-credits'].every((name) => calls.includes(name)));
});
