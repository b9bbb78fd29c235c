import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  applyPaymentAndReversals,
  applyPaymentEvent,
  applyReversals,
} from '../../../src/credits/payments/apply-payments-and-reversals.ts';
import type { Payment, Reversal } from '../../../src/credits/payments/payment-provider.ts';
import { recordLog } from '../../support/log-lines.ts';
import { openPaymentStage, type PaymentStage, serviceUrl, starter } from './payment-stage.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

/** A purchase that the provider reports as paid, with these reversals; returns what was logged and counted. */
async function purchase(reversals: readonly Reversal[] = [], reported: Partial<Payment> = {}) {
  const accountId = await stage.newAccount();
  const { topUpId, sessionId: checkoutId } = await stage.order(accountId);
  const order = { topUpId, accountId, package: 'starter', credits: starter.credits, ...starter.price };
  const about = { checkoutId, order, serviceUrl, isTest: true, receiptUrl: undefined, ...starter.price };
  const paymentId = `pi_${checkoutId}`;
  const payment: Payment = { ...about, state: 'paid', paymentId, ...reported };
  const { log, lines } = recordLog();
  const provider: typeof stage.provider = {
    ...stage.provider,
    readCheckout: async (id) => (id === checkoutId ? payment : undefined),
    readReversals: async () => reversals,
  };
  const from = stage.emitted.length;
  const counted = () => stage.emitted.slice(from).map((event) => 'outcome' in event && event.outcome);
  const ids = { topUpId, accountId, checkoutId, paymentId };
  return { ids, payment, deps: { ...stage.deps, provider, log }, lines, counted };
}

const { credits } = starter;
const [info, warn, error] = [{ level: 30 }, { level: 40 }, { level: 50 }];
const refund = { reference: 're_1', kind: 'refund', minorUnits: 333, isTaken: true, isFinal: true } as const;

test('a payment is logged with its ids: as granted, as granted late, or as not granted', async () => {
  const { ids, deps, lines, counted } = await purchase();
  const { checkoutId } = ids;
  for (let time = 0; time < 2; time += 1) await applyPaymentEvent(deps, { kind: 'checkout', checkoutId });
  assert.deepEqual(lines, [{ ...info, ...ids, credits, msg: 'payment granted' }], 'once');
  assert.deepEqual(counted(), ['granted']);
  const late = await purchase();
  await applyPaymentAndReversals(late.deps, late.payment, 'reconciliation');
  const msg = 'payment granted by reconciliation; no event had arrived';
  assert.deepEqual(late.lines, [{ ...warn, ...late.ids, credits, msg }]);
  assert.deepEqual(late.counted(), ['granted_late']);
  const cheap = await purchase([refund], { minorUnits: 1 });
  await applyPaymentAndReversals(cheap.deps, cheap.payment, 'event');
  const refused = { ...error, ...cheap.ids, reason: 'amount_differs', msg: 'payment not granted' };
  assert.deepEqual([cheap.lines, cheap.counted()], [[refused], ['not_granted']]);
});

test('each reversal is logged, also those that came before the payment, and those that no one can compare', async () => {
  const { ids, deps, payment, lines, counted } = await purchase([
    refund,
    { ...refund, reference: 'dp_1', kind: 'dispute', minorUnits: 666 },
    { ...refund, reference: 're_2', minorUnits: undefined },
    { ...refund, reference: 're_3', minorUnits: undefined },
    { ...refund, reference: 're_4', minorUnits: undefined, isTaken: false },
  ]);
  await applyPaymentAndReversals(deps, payment, 'event');
  const { checkoutId: _, ...about } = ids;
  const booked = { ...warn, ...about, msg: 'payment reversal booked' };
  const left = { ...error, ...about, msg: 'payment reversal not booked: its currency is not comparable' };
  const reversals = [
    { ...booked, reference: 're_1', kind: 'refund', credits: -3333 },
    { ...booked, reference: 'dp_1', kind: 'dispute', credits: -6667 },
  ];
  const notComparable = ['re_2', 're_3'].map((reference) => ({ ...left, reference }));
  assert.deepEqual(lines.slice(1), [...reversals, ...notComparable]);
  assert.deepEqual(counted(), ['granted', 'reversed', 'reversed', 'not_comparable', 'not_comparable']);
  // What a process that died after the grant left is booked with the next event, and by reconciliation with the reversals themselves.
  await applyPaymentAndReversals(deps, payment, 'reconciliation');
  assert.equal(lines.length, 5);
  await applyPaymentAndReversals(deps, payment, 'event');
  assert.deepEqual(lines.slice(5), notComparable);
});

test('what is not ours is counted and logged by an event, and left alone by reconciliation', async () => {
  const { deps, payment, ids, lines, counted } = await purchase([], { order: undefined });
  const { checkoutId, paymentId } = ids;
  await applyPaymentAndReversals(deps, payment, 'reconciliation');
  await applyPaymentEvent(deps, { kind: 'other', type: 'charge.updated' });
  assert.deepEqual(counted(), []);
  await applyPaymentAndReversals(deps, payment, 'event');
  await applyPaymentEvent(deps, { kind: 'checkout', checkoutId: 'cs_unknown' });
  await applyPaymentEvent(deps, { kind: 'reversal', paymentId });
  await applyReversals(deps, 'pi_unknown');
  const unknown = { ...info, msg: 'unknown payment ignored' };
  assert.deepEqual(lines, [
    { level: 20, type: 'charge.updated', msg: 'payment event ignored' },
    { ...unknown, checkoutId },
    { ...unknown, checkoutId: 'cs_unknown' },
    { ...unknown, paymentId },
    { ...unknown, paymentId: 'pi_unknown' },
  ]);
  assert.deepEqual(counted(), Array<string>(4).fill('unknown'));
});
