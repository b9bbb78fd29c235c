import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readBookedCredits, readPaidMoney } from '../../../src/credits/reports/margin.ts';
import { isRevenue } from '../../../src/credits/reports/statement-sections.ts';
import { monthOf, readStatement, sumSections } from '../../../src/credits/reports/account-statement.ts';
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
  const booked = await readBookedCredits(db, period);
  const revenue = booked.filter(({ section }) => isRevenue(section));
  assert.deepEqual(
    revenue.map(({ section, credits }) => [section, credits]),
    [
      ['top_up', 10_000],
      ['top_up_reversal', reversed],
    ],
  );
  assert.deepEqual(await readPaidMoney(db, period), [
    { currency: 'EUR', isTest: true, topUps: 1, minorUnits: 999, returnedMinorUnits: 333 },
  ]);
});
