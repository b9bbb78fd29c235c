import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { bookCreditsAs } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import type { PaidPrice } from '../../../src/credits/payments/payment-provider.ts';
import { reconcilePayments } from '../../../src/credits/payments/payment-reconciliation.ts';
import { applyReversals } from '../../../src/credits/payments/apply-payments-and-reversals.ts';
import {
  listPaymentsWithUnsettledReversals,
  readAndBookReversals,
} from '../../../src/credits/payments/book-reversals.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { eventsInto } from '../../support/service/metric-event-sinks.ts';
import { shell } from '../../support/service/person.ts';
import { acceptTestTask, listedTerms, madeUpResult, requestOf, taskParam } from '../../support/tasks/tasks.ts';
import { deliverOne, openPaymentStage, type PaymentStage, starter } from './payment-stage.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

const records = () => stage.stripe.records;
const { credits } = starter;

test('partial refunds of the whole price take back exactly the credits, each once, however often its event arrives', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const first = records().events.length;
  for (const amount of [333, 333, 333]) records().refund(paymentId, amount);
  const emittedBefore = stage.emitted.length;
  await stage.deliver();
  await Promise.all([0, 1, 2, 0, 1, 2].map((number) => deliverOne(stage.stripe, first + number, stage.deps)));
  const amounts = await stage.amountsOf(accountId);
  assert.deepEqual(amounts, [credits, -3333, -3333, -3334]);
  const reversed = { kind: 'payment_settled', outcome: 'reversed' };
  assert.deepEqual(stage.emitted.slice(emittedBefore), [reversed, reversed, reversed]);
  assert.equal(await stage.balanceOf(accountId), 0);
});

test('refunds of a charge in another currency take back their share of that charge, and all of them exactly the credits', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  records().payIn(paymentId, 123_457, 'jpy');
  records().refund(paymentId, 61_728);
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [credits, -4_994]);
  for (const amount of [1, 61_728]) records().refund(paymentId, amount);
  await stage.deliver();
  assert.equal(await stage.balanceOf(accountId), 0);
});

test('a dispute of a charge in another currency takes back its share of that charge', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  records().payIn(paymentId, 2_000, 'usd');
  records().dispute(paymentId, 1_000);
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [credits, -4_994]);
});

test('a refund whose currency cannot be compared books nothing, and alerts operators', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  records().payIn(paymentId, 2_000, 'usd');
  records().refund(paymentId, 500, 'succeeded', 'gbp');
  const { id } = records().refund(paymentId, 400, 'pending', 'gbp');
  records().failRefund(id);
  const outcomes: string[] = [];
  const events = eventsInto('payment_settled', ({ outcome }) => outcomes.push(outcome));
  await applyReversals({ ...stage.deps, events }, paymentId);
  assert.deepEqual(outcomes, ['not_comparable']);
  assert.deepEqual(await stage.amountsOf(accountId), [credits]);
});

test('a refund that becomes final is settled without another booking, and one of more than the price takes its credits only', async () => {
  const { db } = stage.database;
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const refund = { reference: 're_settling', kind: 'refund', minorUnits: 1_000_000, isTaken: true } as const;
  const isUnsettled = async () =>
    (await listPaymentsWithUnsettledReversals(db, undefined, 100)).some((one) => one.paymentId === paymentId);
  for (const isFinal of [false, true]) {
    const provider = { ...stage.provider, readReversals: async () => [{ ...refund, isFinal }] };
    await readAndBookReversals({ ...stage.deps, provider }, paymentId);
    assert.deepEqual([await isUnsettled(), await stage.amountsOf(accountId)], [!isFinal, [credits, -credits]]);
  }
});

test('concurrent events about refunds book each refund once', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const first = records().events.length;
  for (const amount of [100, 200, 300]) records().refund(paymentId, amount);
  await Promise.all([0, 1, 2, 2, 1, 0].map((number) => deliverOne(stage.stripe, first + number, stage.deps)));
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [credits, -1001, -2002, -3003]);
});

test('any number of concurrent views of unchanged refunds are applied, because none outdates another', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  records().refund(paymentId, 100);
  await stage.deliver();
  // All have read the version before the first one is applied.
  const readers = 15;
  let release = () => {};
  const allRead = new Promise<void>((resolve) => (release = resolve));
  let count = 0;
  const readReversals: typeof stage.provider.readReversals = async (id, price) => {
    count += 1;
    if (count === readers) release();
    await allRead;
    return await stage.provider.readReversals(id, price);
  };
  const deps = { ...stage.deps, provider: { ...stage.provider, readReversals } };
  await Promise.all(Array.from({ length: readers }, () => readAndBookReversals(deps, paymentId)));
  assert.equal(count, readers, 'none had to read again');
  assert.deepEqual(await stage.amountsOf(accountId), [credits, -1001]);
});

test('a refund of spent credits takes the balance below zero: creates are refused, and running tasks go on', async () => {
  const { db } = stage.database;
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const succeeds = await acceptTestTask(db, accountId, taskParam('spent'));
  const fails = await acceptTestTask(db, accountId, taskParam('spent'));
  const spent = credits - (await stage.balanceOf(accountId));
  records().refund(paymentId, starter.price.minorUnits);
  await stage.deliver();
  assert.equal(await stage.balanceOf(accountId), -spent);
  const task = { taskId: uuidv7(), accountId, ...requestOf(taskParam('refused')), ...listedTerms };
  const refused = await acceptTaskAlone(db, task);
  assert.deepEqual([refused.kind, 'balance' in refused && refused.balance], ['insufficient_credits', -spent]);
  assert.equal((await completeTask(db, succeeds, madeUpResult)).changed, true);
  await failAndRefund(db, fails, { failCode: 'internal', failMsg: 'It failed.' });
  assert.equal((await findTask(db, succeeds))?.state, 'success');
  assert.equal(await stage.balanceOf(accountId), -spent / 2);
  const adjustment = { accountId, kind: 'adjustment', amount: -1, reason: 'test' } as const;
  assert.equal((await bookCreditsAs(db, shell, adjustment)).kind, 'balance_out_of_range');
  // A grant that leaves the balance below zero.
  assert.equal((await bookCreditsAs(db, shell, { ...adjustment, kind: 'grant', amount: 1 })).kind, 'booked');
  assert.equal(await stage.balanceOf(accountId), 1 - spent / 2);
});

test('a refund that fails gives its credits back', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const refund = records().refund(paymentId, 500, 'pending');
  await stage.deliver();
  records().failRefund(refund.id);
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [credits, -5005, 5005]);
});

test('a dispute takes its credits when it begins, and gives them back when it is won', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const [won, lost, inquiry] = [
    records().dispute(paymentId, 200),
    records().dispute(paymentId, 100),
    records().dispute(paymentId, 50, { isInquiry: true }),
  ];
  await stage.deliver();
  assert.equal(await stage.balanceOf(accountId), credits - 3003);
  records().closeDispute(won.id, 'won');
  records().closeDispute(lost.id, 'lost');
  records().closeDispute(inquiry.id, 'lost');
  await stage.deliver();
  assert.equal(await stage.balanceOf(accountId), credits - 1001);
});

test('a lost dispute of a payment that was partly refunded leaves all credits taken, and not more', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  records().refund(paymentId, 333);
  const dispute = records().dispute(paymentId, 999);
  await stage.deliver();
  // Stripe has withdrawn the whole payment, beside the refund.
  assert.equal(await stage.balanceOf(accountId), -3333);
  records().closeDispute(dispute.id, 'lost');
  await stage.deliver();
  assert.deepEqual(await stage.amountsOf(accountId), [credits, -3333, -credits, 3333]);
});

test('a part of a lost dispute that returns later, without an event, is booked by reconciliation', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  records().refund(paymentId, 333);
  const dispute = records().dispute(paymentId, 999);
  records().closeDispute(dispute.id, 'lost', { isReinstatedLater: true });
  await stage.deliver();
  assert.equal(await stage.balanceOf(accountId), -3333);
  dispute.moved.push(333);
  // The dispute is older than what is listed.
  await reconcilePayments(stage.deps, Date.now() + 60_000);
  assert.equal(await stage.balanceOf(accountId), 0);
});

for (const [rate, returned] of [
  ['a lower', 5160],
  ['a higher', 5400],
] as const) {
  test(`a dispute that is won gives all credits back, also when its money returns at ${rate} rate`, async () => {
    const accountId = await stage.newAccount();
    const { paymentId } = await stage.buy(accountId);
    const dispute = records().dispute(paymentId, 999);
    // In the currency of the operator's bank account.
    dispute.moved[0] = -5280;
    await stage.deliver();
    assert.equal(await stage.balanceOf(accountId), 0);
    records().closeDispute(dispute.id, 'won', { isReinstatedLater: true });
    dispute.moved.push(returned);
    await stage.deliver();
    assert.equal(await stage.balanceOf(accountId), credits);
  });
}

test('a refund whose event arrives before that of its payment is booked with the payment', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  const first = records().events.length;
  records().refund(records().pay(sessionId), 999);
  await deliverOne(stage.stripe, first + 1, stage.deps);
  assert.deepEqual(await stage.amountsOf(accountId), []);
  await deliverOne(stage.stripe, first, stage.deps);
  assert.deepEqual(await stage.amountsOf(accountId), [credits, -credits]);
  await stage.deliver();
});

test('a view of Stripe that became outdated while it was read is not booked', async () => {
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  const dispute = records().dispute(paymentId, 999);
  await stage.deliver();
  const { deps, provider } = stage;
  let reads = 0;
  const slow = {
    ...provider,
    readReversals: async (id: string, price: PaidPrice) => {
      const outdated = await provider.readReversals(id, price);
      if (reads++ > 0) return outdated;
      // Meanwhile the dispute is won, and its event is processed.
      records().closeDispute(dispute.id, 'won');
      await stage.deliver();
      return outdated;
    },
  };
  await readAndBookReversals({ ...deps, provider: slow }, paymentId);
  assert.equal(reads, 2);
  assert.equal(await stage.balanceOf(accountId), credits);
});
