import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCodesAs, redeemCode, withdrawCodesAs } from '../../../src/credits/ledger/redemption-codes.ts';
import { listSpendCapsOfAccount, setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { applyPaymentEvent } from '../../../src/credits/payments/apply-payments-and-reversals.ts';
import { startCheckout } from '../../../src/credits/payments/start-checkout.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { freshPollerMs } from '../../../src/temporal/connection/server-facts.ts';
import { fakeStripeKey, fakeWebhookSecret, startFakeStripe } from '../../fakes/stripe/stripe.ts';
import { providerAt, returnUrl, serviceUrl, starter } from '../../credits/payments/payment-stage.ts';
import { openingCredits, price } from '../../support/service/test-installation.ts';
import { shell } from '../../support/service/person.ts';
import { createTestAccount } from '../../support/service/test-service.ts';
import { videogen } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';
import { backUp, balanceOf, dropDatabase, restore, stage } from './restore-stage.ts';

// Follows docs/operations/backup.md after a loss of the newest rows.
test('after a restore, codes and caps are those of the backup, and agree with what is left of the ledger', async () => {
  const { database, accountId, accept, commandLater, json, close } = await stage();
  const { db } = database;
  const { accountId: other } = await createTestAccount(database, 0);
  const account = { kind: 'account', id: accountId } as const;
  await setSpendCaps(db, accountId, account, { day: 10 * price, total: 10 * price });
  const { batchId, codes } = await createCodesAs(db, shell, { name: 'spring', credits: 500, codes: 2 });
  const [early = '', late = ''] = codes;
  assert.equal((await redeemCode(db, accountId, early)).kind, 'redeemed');
  await accept();

  const backup = await backUp(database.url);
  // All of this is lost: a redemption, a batch, a batch's end, a charge and a lower cap.
  assert.equal((await redeemCode(db, accountId, late)).kind, 'redeemed');
  const newer = await createCodesAs(db, shell, { name: 'summer', credits: 500, codes: 1 });
  await withdrawCodesAs(db, shell, { batchId, reason: 'leaked' });
  await accept();
  await setSpendCaps(db, accountId, account, { total: 2 * price });
  await restore(database.url, backup);

  await waitFor('the settlement', async () => {
    const { stdout, stderr } = await commandLater(freshPollerMs, 'reconcile', '--restored');
    assert.notEqual(stdout, '', stderr);
    return (JSON.parse(stdout) as { refunded: number }).refunded === 0 ? true : undefined;
  });
  const caps = await listSpendCapsOfAccount(db, accountId);
  assert.deepEqual(
    caps.map(({ period, credits, spent }) => [period, credits, spent]),
    [
      ['day', 10 * price, 0],
      ['total', 10 * price, 0],
    ],
  );
  const kindOf = async (redeemer: string, code: string) => (await redeemCode(db, redeemer, code)).kind;
  assert.equal(await kindOf(other, early), 'code_invalid', 'it was redeemed before the backup');
  assert.equal(await kindOf(accountId, newer.codes[0] ?? ''), 'code_invalid', 'its batch is lost');
  assert.deepEqual(
    await Promise.all([kindOf(other, late), kindOf(accountId, late)]).then((kinds) => kinds.toSorted()),
    ['code_invalid', 'redeemed'],
    'its credits are lost, so it grants them again, once',
  );
  const balances = await Promise.all([accountId, other].map((id) => balanceOf(db, id)));
  assert.equal(
    balances.reduce((sum, balance) => sum + balance, 0),
    openingCredits + 500 + 500,
  );
  assert.deepEqual((await json('reconcile', '--report'))['violations'], []);
  await dropDatabase(backup);
  await close();
});

test('after a restore, reconciliation with Stripe grants once what was paid since, with its refunds', async () => {
  const stripe = await startFakeStripe();
  const { database, accountId, environment, json, close } = await stage();
  const { db } = database;
  const sold = {
    STRIPE_SECRET_KEY: fakeStripeKey,
    STRIPE_WEBHOOK_SECRET: fakeWebhookSecret,
    STRIPE_API_URL: `http://${stripe.address}`,
    PUBLIC_URL: serviceUrl,
  };
  const deps = {
    db,
    provider: providerAt(stripe),
    serviceUrl,
    log: createLog({ level: 'silent' }),
    events: { emit: () => {} },
  };
  const order = async () => {
    const started = await startCheckout(deps, { accountId, name: 'starter', offer: starter, returnUrl });
    assert.ok(started.kind === 'started');
    return started.checkoutId;
  };
  const pay = async (checkoutId: string) => {
    const paymentId = stripe.records.pay(checkoutId);
    await applyPaymentEvent(deps, { kind: 'checkout', checkoutId });
    return paymentId;
  };
  const early = await pay(await order());
  const open = await order();

  const backup = await backUp(database.url);
  // All of this is lost: two grants, one of them of a purchase that the backup lacks, and two refunds.
  await pay(open);
  const lost = await pay(await order());
  stripe.records.refund(early, 333);
  stripe.records.refund(lost, 999);
  for (const paymentId of [early, lost]) await applyPaymentEvent(deps, { kind: 'reversal', paymentId });
  const balance = await balanceOf(db, accountId);
  await restore(database.url, backup);

  const reconcile = async () => {
    const { stdout, stderr } = await videogen(
      { ...environment, ...sold },
      'top-up',
      'reconcile',
      '--days',
      '60',
      '--json',
    );
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout) as unknown;
  };
  const counts = { notGranted: 0, failed: 0 };
  assert.deepEqual(await reconcile(), { ...counts, checked: 5, granted: 2, reversed: 2 });
  assert.deepEqual(await reconcile(), { ...counts, checked: 5, granted: 0, reversed: 0 });
  assert.equal(balance, openingCredits + 6667 + starter.credits);
  assert.equal(await balanceOf(db, accountId), balance, 'as before the loss');
  assert.deepEqual((await json('reconcile', '--report'))['violations'], []);
  await dropDatabase(backup);
  await close();
  await stripe.close();
});
