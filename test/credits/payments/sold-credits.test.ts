import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  readCreditsOutsideTasks,
  readPaidAndReturnedMoney,
} from '../../../src/credits/reports/margin-and-paid-money.ts';
import { isRevenueSection } from '../../../src/credits/reports/ledger-sections.ts';
import { monthOf, readStatement, sumSections } from '../../../src/credits/reports/account-statement.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';
import { openPaymentStage, type PaymentStage } from './payment-stage.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

test('a top-up and its refund have sections of their own in the statement, and are revenue in the report', async () => {
  await awayFromMidnight();
  const accountId = await stage.newAccount(70);
  const { paymentId } = await stage.buy(accountId);
  stage.stripe.records.refund(paymentId, 333);
  await stage.deliver();
  const failing = stage.stripe.records.refund(paymentId, 100);
  await stage.deliver();
  stage.stripe.records.failRefund(failing.id);
  await stage.deliver();
  const reversed = (await stage.balanceOf(accountId)) - 70 - 10_000;
  assert.ok(reversed < 0);
  const { db } = stage.database;
  const month = monthOf(new Date().toISOString().slice(0, 7)) ?? assert.fail();
  const sums = sumSections(await readStatement(db, { accountId, ...month }));
  const creditsOf = (name: string) => sums.find(({ section }) => section === name)?.credits;
  assert.deepEqual(
    [creditsOf('top_up'), creditsOf('top_up_reversal'), creditsOf('grant'), creditsOf('adjustment')],
    [10_000, reversed, 70, 0],
  );
  const period = { fromMs: 0, toMs: Date.now() + 60_000 };
  const booked = await readCreditsOutsideTasks(db, period);
  const revenue = booked.filter(({ section }) => isRevenueSection(section));
  assert.deepEqual(
    revenue.map(({ section, credits }) => [section, credits]),
    [
      ['top_up', 10_000],
      ['top_up_reversal', reversed],
    ],
  );
  const paid = [{ currency: 'EUR', isTest: true, topUps: 1, minorUnits: 999, returnedMinorUnits: 333 }];
  assert.deepEqual(await readPaidAndReturnedMoney(db, period), paid);

  const at = Date.UTC(2026, 0, 5);
  const then = `timestamptz '2026-01-05T00:00:00Z'`;
  await runAsSuperuser(
    stage.database,
    `update ledger_entries set created_at = ${then}`,
    `update top_ups set paid_at = ${then}`,
    `update top_up_reversals set created_at = ${then}`,
  );
  const read = async (fromMs: number) => {
    const millisecond = { fromMs, toMs: fromMs + 1 };
    return [await readCreditsOutsideTasks(db, millisecond), await readPaidAndReturnedMoney(db, millisecond)];
  };
  assert.deepEqual(await Promise.all([at - 1, at, at + 1].map(read)), [
    [[], []],
    [booked, paid],
    [[], []],
  ]);
});
