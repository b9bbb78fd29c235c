import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgePayments } from './judge-payments.ts';
import type { FinalSession, FinalTopUp, PaymentEvidence } from './payment-evidence.ts';

const session: FinalSession = {
  sessionId: 'cs_1',
  topUpId: 't1',
  accountId: 'a1',
  state: 'paid',
  credits: 200,
  due: 150,
  taken: ['re_1'],
};
const topUp: FinalTopUp = {
  topUpId: 't1',
  accountId: 'a1',
  checkoutId: 'cs_1',
  state: 'paid',
  grants: [200],
  adjusted: -50,
  taken: ['re_1'],
};

const judged = (change: Partial<PaymentEvidence>) =>
  judgePayments({ sessions: [session], topUps: [topUp], ungranted: [], ordered: ['cs_1'], forgeries: [], ...change });
const booked = (change: Partial<FinalTopUp>) => ({ topUps: [{ ...topUp, ...change }] });

test('books that have what Stripe has are correct', () => {
  assert.deepEqual(judged({}), []);
  const unpaid = { ...session, state: 'expired', due: 0, taken: [] } as const;
  const abandoned = { ...topUp, state: 'failed', grants: [], adjusted: 0, taken: [], checkoutId: undefined } as const;
  assert.deepEqual(judged({ sessions: [unpaid], topUps: [abandoned] }), []);
  assert.deepEqual(judged({ sessions: [], topUps: [abandoned], ordered: [] }), []);
});

describe('each difference between the books and Stripe is reported with the session', () => {
  const broken: Readonly<Record<string, readonly [Partial<PaymentEvidence>, RegExp]>> = {
    'a payment without a purchase': [{ topUps: [] }, /cs_1 .*no purchase/],
    'a payment without a grant': [booked({ grants: [], adjusted: 150 }), /cs_1 .*granted nothing instead of 200/],
    'a payment that was granted twice': [
      booked({ grants: [200, 200], adjusted: -250 }),
      /cs_1 .*200 and 200 instead of 200/,
    ],
    'a grant without a payment': [
      { sessions: [{ ...session, state: 'expired', due: 0, taken: [] }] },
      /cs_1 .*instead of nothing/,
    ],
    'a refund that was booked twice': [booked({ adjusted: -100 }), /cs_1 .*100 credits .*150 are due/],
    'a refund that is missing': [booked({ taken: [] }), /cs_1 .*reversed by nothing, at Stripe by re_1/],
    'an outdated state': [booked({ state: 'open' }), /cs_1 .*is open in our books/],
    "another account's payment": [booked({ accountId: 'a2' }), /cs_1 .*account a2/],
    "another purchase's session": [booked({ checkoutId: 'cs_2' }), /cs_1 .*cs_2 in our books/],
    'two sessions of a purchase': [{ sessions: [session, { ...session, sessionId: 'cs_2' }] }, /cs_1 is not the only/],
    'entries without a session': [{ sessions: [], ordered: [] }, /t1 has entries/],
    'an order without a session': [{ ordered: ['cs_9'] }, /cs_9 was returned/],
    'a payment that we know is not granted': [{ ungranted: ['cs_1 (amount_differs)'] }, /cs_1 \(amount_differs\)/],
    'a forgery that was accepted': [{ forgeries: ['evt_1'] }, /evt_1 was accepted/],
  };
  for (const [what, [change, sentence]] of Object.entries(broken)) {
    test(what, () => assert.match(judged(change).join('\n'), sentence));
  }
});
