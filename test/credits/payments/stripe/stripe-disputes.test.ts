import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { reversalOfDispute, reversalsOfRefunds } from '../../../../src/credits/payments/stripe/stripe-payment.ts';

const price = { currency: 'EUR', minorUnits: 1_000 };
const nowSeconds = Math.floor(Date.now() / 1000);

/** A dispute of the whole price; `moves` are the amounts on the operator's balance. */
function dispute(status: string, moves: readonly number[], created = nowSeconds): Stripe.Dispute {
  const balance = { balance_transactions: moves.map((amount) => ({ amount })) };
  const disputed = { id: 'du_1', status, created, amount: 1_000, currency: 'eur', charge: null, ...balance };
  return disputed as unknown as Stripe.Dispute; // the fields that are read
}

const finalOf = (status: string, moves: readonly number[]) =>
  reversalOfDispute(dispute(status, moves), { price, isRefunded: false }).isFinal;

test('a dispute is final when Stripe has closed it, and one that was won only once the money is back', () => {
  for (const status of ['lost', 'warning_closed', 'prevented']) assert.ok(finalOf(status, [-1_000]), status);
  for (const status of ['warning_needs_response', 'warning_under_review', 'needs_response', 'under_review'])
    for (const moves of [[], [-1_000]]) assert.ok(!finalOf(status, moves), status);
  assert.ok(!finalOf('won', [-1_000]));
  assert.ok(finalOf('won', [-1_000, 1_000]));
});

test('a lost dispute of a payment that was partly refunded is read again for 180 days, until its part is back', () => {
  const part = (ageSeconds: number, moves = [-1_000], isRefunded = true) =>
    reversalOfDispute(dispute('lost', moves, nowSeconds - ageSeconds), { price, isRefunded });
  const limit = 180 * 86_400;
  const minute = 60;
  assert.equal(part(limit - minute).isFinal, false);
  assert.equal(part(limit + minute).isFinal, true);
  assert.equal(part(0, [-1_000], false).isFinal, true);
  const returned = part(0, [-1_000, 400]);
  assert.deepEqual(
    [returned.isFinal, returned.isTaken, returned.minorUnits],
    [true, true, 600],
    'the part that came back is not taken from the customer',
  );
});

test('a refund that failed or was canceled took nothing; only one that succeeded, or took nothing, is final', () => {
  const refund = (status: string) => ({ id: status, status, amount: 1_000, currency: 'eur', charge: null });
  const statuses = ['pending', 'requires_action', 'succeeded', 'failed', 'canceled'];
  // the fields that are read
  const refunds = statuses.map(refund) as unknown as Stripe.Refund[];
  assert.deepEqual(
    reversalsOfRefunds(refunds, price).map(({ reference, isTaken, isFinal }) => [reference, isTaken, isFinal]),
    [
      ['pending', true, false],
      ['requires_action', true, false],
      ['succeeded', true, true],
      ['failed', false, true],
      ['canceled', false, true],
    ],
  );
});
