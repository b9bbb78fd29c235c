import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { reconcilePayments } from '../../src/credits/payments/payment-reconciliation.ts';
import { deliverOne, openPaymentStage, type PaymentStage, starter } from '../credits/payments/payment-stage.ts';
import { runs } from '../support/property.ts';

// Customers, banks and operators do what Stripe allows, in any order. Events are lost, repeated, reordered and processed concurrently. In
// the end the ledger has what Stripe's records have.

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(async () => {
  const violations = await auditLedger(stage.database.db);
  await stage.close();
  assert.deepEqual(violations, []);
});

const purchases = 3;
const which = fc.nat({ max: purchases - 1 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pay' as const), which, isDelayed: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), which, isPaid: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('refund' as const), which, amount: fc.integer({ min: 1, max: 999 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail refund' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('dispute' as const), which, amount: fc.integer({ min: 1, max: 999 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('close dispute' as const), which, isWon: fc.boolean() }) },
  // Events so far, by their numbers: some twice, others never.
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      events: fc.array(fc.nat({ max: 30 }), { maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reconcile' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const history = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  /** The end of the story brings every event, or reconciliation. */
  endsWith: fc.constantFrom('events', 'reconciliation'),
});

test("after any history and any order of events, the ledger has what Stripe's records have", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ steps, endsWith }) => {
      const { records } = stage.stripe;
      const accountId = await stage.newAccount();
      // Reconciliation covers what was ordered from here on.
      const sinceMs = Date.now();
      const sessionIds: string[] = [];
      while (sessionIds.length < purchases) sessionIds.push((await stage.order(accountId)).sessionId);
      const first = records.events.length;
      for (const one of steps) await play(one, { sessionIds, first, sinceMs });
      if (endsWith === 'reconciliation') await reconcilePayments(stage.deps, sinceMs);
      else for (let number = records.events.length - 1; number >= first; number -= 1) await deliver(number);
      const due = sessionIds.map((id) => {
        const session = records.sessions.get(id);
        if (session?.payment_status !== 'paid') return 0;
        const taken = records.takenOf(session.payment_intent ?? '');
        return starter.credits - Math.floor((starter.credits * taken) / starter.price.minorUnits);
      });
      assert.equal(
        await stage.balanceOf(accountId),
        due.reduce((sum, credits) => sum + credits, 0),
      );
    }),
    runs(100),
  );
});

const deliver = (number: number) => deliverOne(stage.stripe, number, stage.deps);

type Story = { readonly sessionIds: readonly string[]; readonly first: number; readonly sinceMs: number };

async function play(one: Step, { sessionIds, first, sinceMs }: Story): Promise<void> {
  const { records } = stage.stripe;
  if (one.kind === 'reconcile') return void (await reconcilePayments(stage.deps, sinceMs));
  if (one.kind === 'deliver') {
    const known = one.events.filter((event) => first + event < records.events.length);
    return void (await Promise.all(known.map((event) => deliver(first + event))));
  }
  const session = records.sessions.get(sessionIds[one.which] ?? '');
  assert.ok(session);
  const intentId = session.payment_intent ?? '';
  const intent = records.intents.get(intentId);
  const isPaid = session.payment_status === 'paid';
  const ofIntent = (record: { readonly payment_intent: string }) => record.payment_intent === intentId;
  switch (one.kind) {
    case 'pay':
      if (session.status === 'open') records.pay(session.id, one);
      break;
    case 'end':
      if (intent?.status === 'processing') records.endDelayed(session.id, one.isPaid ? 'succeeded' : 'failed');
      break;
    case 'expire':
      if (session.status === 'open') records.expire(session.id);
      break;
    case 'refund': {
      const { amount = 0, amount_refunded: refunded = 0 } = records.charges.get(intent?.charge ?? '') ?? {};
      if (isPaid && one.amount <= amount - refunded) records.refund(intentId, one.amount);
      break;
    }
    case 'fail refund': {
      const refund = [...records.refunds.values()].find((record) => ofIntent(record) && record.status === 'succeeded');
      if (refund !== undefined) records.failRefund(refund.id);
      break;
    }
    case 'dispute':
      if (isPaid) records.dispute(intentId, one.amount, { isInquiry: one.amount % 3 === 0 });
      break;
    case 'close dispute':
    default: {
      const open = [...records.disputes.values()].find(
        (record) => ofIntent(record) && record.status.endsWith('needs_response'),
      );
      if (open !== undefined) records.closeDispute(open.id, one.isWon ? 'won' : 'lost');
    }
  }
}
