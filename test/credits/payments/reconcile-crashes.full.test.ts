import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reconcilePayments } from '../../../src/credits/payments/payment-reconciliation.ts';
import { atEachAwait } from './mortal-deps.ts';
import { openPaymentStage, type PaymentStage, starter } from './payment-stage.ts';

// A worker dies; then the schedule runs on another one.

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

const records = () => stage.stripe.records;
const { credits } = starter;

test('a worker that dies at any await of a reconciliation grants and reverses once, after the next run', async () => {
  const calls = await atEachAwait(stage.deps, async (dies) => {
    const accountId = await stage.newAccount();
    const sinceMs = Date.now();
    const [paid, refunded] = [await stage.order(accountId), await stage.order(accountId)];
    records().pay(paid.sessionId);
    records().refund(records().pay(refunded.sessionId), 999);
    await dies((deps) => reconcilePayments(deps, sinceMs));
    await reconcilePayments(stage.deps, sinceMs);
    assert.deepEqual(await stage.balanceOf(accountId), credits);
    assert.deepEqual(
      (await stage.amountsOf(accountId)).toSorted((a, b) => a - b),
      [-credits, credits, credits],
    );
    // Events that were late after all.
    await stage.deliver();
    assert.equal(await stage.balanceOf(accountId), credits);
  });
  assert.ok(calls.includes('mark-payments-reconciled'));
});
