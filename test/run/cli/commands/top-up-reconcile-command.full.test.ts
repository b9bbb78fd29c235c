import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { recordServiceUrl } from '../../../../src/run/embedded/data-folder-lock-and-files.ts';
import { fakeStripeKey, fakeWebhookSecret } from '../../../fakes/stripe/stripe.ts';
import { openPaymentStage, type PaymentStage, serviceUrl, starter } from '../../../credits/payments/payment-stage.ts';
import { findingLine } from '../../../support/doctor-findings.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { videogen } from '../../../support/processes/run-videogen.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

const environment = () => ({
  ...process.env,
  DATABASE_URL: stage.database.url,
  VIDEOGEN_SECRET: 's'.repeat(32),
  PUBLIC_URL: serviceUrl,
  STRIPE_SECRET_KEY: fakeStripeKey,
  STRIPE_WEBHOOK_SECRET: fakeWebhookSecret,
  STRIPE_API_URL: `http://${stage.stripe.address}`,
});

test('purchases without an event are granted by a command, once', async () => {
  const accountId = await stage.newAccount();
  const { sessionId } = await stage.order(accountId);
  stage.stripe.records.pay(sessionId);
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await videogen(environment(), 'top-up', ...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  assert.equal(await run('reconcile'), '1 records compared: 1 payments granted, 0 refunds and disputes booked.\n');
  assert.equal(
    await run('reconcile', '--days', '1'),
    '1 records compared: 0 payments granted, 0 refunds and disputes booked.\n',
  );
  assert.deepEqual(await stage.amountsOf(accountId), [starter.credits]);
  const line = await findingLine('payments', environment());
  assert.match(line, /^warning: nothing is for sale → Add packages to the catalogue/);
});

test('without PUBLIC_URL, a purchase that a restored database lacks is granted if it was made at the running service', async (t) => {
  const accountId = await stage.newAccount();
  const { topUpId, sessionId } = await stage.order(accountId);
  stage.stripe.records.pay(sessionId);
  const text = 'delete from top_ups where id = $1';
  await stage.database.db.run({ name: 'test-lose-purchase', text }, [topUpId]);
  const folder = await temporaryFolder(t);
  await recordServiceUrl(folder, serviceUrl);
  const { PUBLIC_URL: _url, ...unset } = environment();
  const { code, stdout, stderr } = await videogen({ ...unset, VIDEOGEN_DATA: folder }, 'top-up', 'reconcile');
  assert.equal(code, 0, stderr);
  assert.match(stdout, / 1 payments granted, .*\nPurchases .* only if they were made at http:\/\/media\.test\.\n$/);
  assert.deepEqual(await stage.amountsOf(accountId), [starter.credits]);
});

test('without a payment provider the command names the settings', async () => {
  const { STRIPE_SECRET_KEY: _key, STRIPE_WEBHOOK_SECRET: _secret, ...unset } = environment();
  const { code, stderr } = await videogen(unset, 'top-up', 'reconcile');
  assert.equal(code, 1);
  assert.match(stderr, /no payment provider: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET/);
});
