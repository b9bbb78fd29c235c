import assert from 'node:assert/strict';
import { text as textOf } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  closeDialog,
  settled,
} from '../../support/console/console-visitor.ts';
import { plainRequest } from '../../support/service/http-service.ts';
import { openSellingStage, type SellingStage } from './selling-stage.ts';

// Buying credits, statements and the events of an account.

const skip = skipWithoutBrowser();

let stage: SellingStage;
const testedTypes: unknown[] = [];
before(async () => {
  if (skip !== false) return;
  stage = await openSellingStage({
    testCallback: ({ event }) => {
      testedTypes.push(event);
      return Promise.resolve(event === 'balance.low' ? 500 : 204);
    },
    refuseCallbackUrl: (url) => (url.includes('10.0.0.1') ? 'must not be a private address' : undefined),
  });
});
afterEach(async () => {
  if (skip === false) await stage.visitor.closeTabs();
});
after(async () => {
  if (skip === false) await stage.close();
});

/** Chooses a package and leaves for the checkout. */
async function startCheckout(page: Page, title: string, price: string): Promise<void> {
  await page.getByRole('button', { name: 'Buy credits' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Buy credits' });
  await dialog.getByText('No real money moves.').waitFor();
  await dialog.getByRole('radio', { name: new RegExp(title) }).check({ force: true });
  await dialog.getByRole('button', { name: `Continue to payment: ${price}` }).click();
  await page.getByRole('heading', { name: 'The fake checkout' }).waitFor();
}

test(
  'an owner buys a package: the page waits for the payment, then shows the credits; a refund takes its part back',
  { skip },
  async () => {
    const { accountId } = await stage.service.newAccount(100);
    const { page, errors, open } = await stage.visitor.signedIn({ [accountId]: 'owner' });
    await stage.leavesForStripe(page);
    await open(`/a/${accountId}/credits`);
    await page.getByRole('button', { name: 'Buy credits' }).click();
    await page.getByRole('radio', { name: /Studio.*120,000 credits.*€99\.00.*€0\.83 per 1,000 credits/s }).waitFor();
    await page.getByText('Save 17%').waitFor();
    await assertAccessible(page, 'the packages');
    await page.keyboard.press('Escape');

    await startCheckout(page, 'Studio', '€99.00');
    const payment = stage.pay();
    await page.getByRole('link', { name: 'Pay' }).click();
    await page.getByText('Payment received').waitFor();
    await page.getByText('Your credits are being added.').waitFor();
    await stage.deliver();
    await page.getByText('120,000 credits added').waitFor();
    await page.getByRole('link', { name: 'Balance 120,100' }).waitFor();
    await assertAccessible(page, 'the return from a checkout');

    await page.getByRole('button', { name: 'View purchases' }).click();
    const row = page.getByRole('table', { name: 'Purchases' }).getByRole('row', { name: /120,000 credits/ });
    await row.getByText('Paid', { exact: true }).waitFor();
    await row.getByText('€99.00').waitFor();
    await row.getByText('Test', { exact: true }).waitFor();
    const receipt = row.getByRole('link', { name: /^Receipt/ });
    assert.match((await receipt.getAttribute('href')) ?? '', /^https:\/\/pay\.stripe\.com\/receipts\//);
    assert.doesNotMatch(page.url(), /topUp|checkout/);

    stage.stripe.records.refund(payment, 4_950);
    await stage.deliver();
    await page.reload();
    await row.getByText('Partially refunded').waitFor();
    await row.getByText('60,000 taken back').waitFor();
    await assertAccessible(page, 'the purchases');
    assert.deepEqual(errors, []);
  },
);

test(
  'an abandoned checkout costs nothing and stays incomplete; other members see purchases, and no way to buy',
  { skip },
  async () => {
    const { accountId } = await stage.service.newAccount(100);
    const narrow = { viewport: { width: 390, height: 844 } };
    const { page, open } = await stage.visitor.signedIn({ [accountId]: 'owner' }, narrow);
    await stage.leavesForStripe(page);
    await open(`/a/${accountId}/credits?tab=purchases`);
    await page.getByRole('heading', { name: 'No purchases yet' }).waitFor();
    await startCheckout(page, 'Starter', '€9.99');
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByText('You weren’t charged.').waitFor();
    await page.getByRole('button', { name: 'View purchases' }).click();
    await page
      .getByRole('row', { name: /10,000 credits/ })
      .getByText('Incomplete')
      .waitFor();
    await assertNoSidewaysScroll(page, 'the purchases');

    const member = await stage.visitor.signedIn({ [accountId]: 'member' });
    await member.open(`/a/${accountId}/credits?tab=purchases`);
    await member.page.getByRole('row', { name: /10,000 credits/ }).waitFor();
    assert.equal(await member.page.getByRole('button', { name: 'Buy credits' }).count(), 0);
  },
);

test('a balance that does not cover the video leads owners to the credits for sale', { skip }, async () => {
  const { accountId } = await stage.service.newAccount(1);
  const { page, open } = await stage.visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  await page.locator('.generate').getByRole('link', { name: 'Buy credits' }).click();
  await page.waitForURL(/\/credits$/);
  const member = await stage.visitor.signedIn({ [accountId]: 'member' });
  await member.open(`/a/${accountId}/playground`);
  await member.page.getByText('Ask an owner of this account to add credits.').waitFor();
});

test('a statement shows each section, opens as a page of its own and is saved as CSV', { skip }, async () => {
  const { accountId, key } = await stage.service.newAccount(1_000);
  await stage.service.create(key, plainRequest);
  const { page, context, errors, open } = await stage.visitor.signedIn({ [accountId]: 'viewer' });
  await open(`/a/${accountId}/credits?tab=statements`);
  const month = await page.getByLabel('Month').inputValue();
  const table = page.getByRole('table', { name: /^Statement for/ });
  await table.getByRole('row', { name: 'Grants 1 +1,000' }).waitFor();
  await table.getByRole('row', { name: 'Charges 1 −165' }).waitFor();
  await table.getByRole('row', { name: 'videogen-2.0-fast 1 −165' }).waitFor();
  await table.getByRole('row', { name: 'Current balance 835' }).waitFor();
  await assertAccessible(page, 'a statement');

  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Print or save as PDF' }).click();
  const printed = await opened;
  await printed.getByRole('heading', { name: 'Statement for' }).waitFor();
  assert.ok(printed.url().endsWith(`/console/a/${accountId}/statements/${month}.html`));
  await printed.close();

  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV', exact: true }).click();
  const download = await saved;
  assert.equal(download.suggestedFilename(), `statement-${month}.csv`);
  assert.match(await textOf(await download.createReadStream()), /charge,,videogen-2\.0-fast,standard,1,-165/);
  assert.deepEqual(errors, []);
});

test(
  'an owner adds an endpoint for events, gets its secret once, tests it and redelivers an event; members only read',
  { skip },
  async () => {
    const { accountId, key } = await stage.service.newAccount(1_000);
    const { page, errors, open } = await stage.visitor.signedIn({ [accountId]: 'owner' });
    await open(`/a/${accountId}/credits`);
    await page.getByLabel('Warn below').fill('500');
    await page.getByRole('button', { name: 'Save warning' }).click();
    await page.getByText('Warning saved').waitFor();
    await page.getByRole('link', { name: 'Webhooks' }).click();
    const endpoint = page.getByRole('region', { name: 'Endpoint' });
    const dialog = page.getByRole('dialog');
    await endpoint.getByRole('button', { name: 'Add endpoint' }).click();
    await dialog.getByLabel('Endpoint URL').fill('http://10.0.0.1/events');
    await dialog.getByRole('checkbox', { name: /^The balance fell/ }).check();
    await dialog.getByRole('button', { name: 'Save endpoint' }).click();
    await dialog.getByText('Must not be a private address.').waitFor();
    await assertAccessible(page, 'the form of an endpoint');
    await dialog.getByLabel('Endpoint URL').fill('https://receiver.example/events');
    await dialog.getByRole('button', { name: 'Save endpoint' }).click();
    await endpoint.getByText('balance.low').waitFor();

    await page.getByRole('button', { name: 'Reveal secret' }).click();
    await dialog.getByRole('button', { name: 'Reveal secret' }).click();
    assert.match(await dialog.locator('.secret code').innerText(), /^whsec_/);
    await closeDialog(page, 'Done');

    for (const [type, words] of [
      ['task.succeeded', 'The receiver responded with HTTP 204'],
      ['balance.low', 'Only 2xx responses count as delivered.'],
    ] as const) {
      await endpoint.getByRole('button', { name: 'Send test event' }).click();
      await dialog.getByLabel('Type').selectOption(type);
      await dialog.getByRole('button', { name: 'Send event' }).click();
      await dialog.getByText(words).waitFor();
      assert.equal(testedTypes.at(-1), type);
      await closeDialog(page, 'Done');
    }

    const taskId = String((await stage.service.create(key, plainRequest)).json.data['taskId']);
    await failAndRefund(stage.service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
    await recordDeliveryAttempt(stage.service.database.db, {
      delivery: { deliveryId: taskEventId(taskId), redeliveries: 0 },
      attempt: { startedAt: Date.now(), durationMs: 12, status: 500, error: undefined, responseHead: undefined },
      newState: { state: 'pending', dueAt: Date.now() + 3_600_000 },
    });
    await page.reload();
    const row = page.getByRole('row', { name: /^task\.failed/ });
    await row.getByRole('button', { name: 'Details of task.failed' }).click();
    await dialog.getByText('A task failed').waitFor();
    await dialog.getByRole('row', { name: /^#1/ }).getByText('Request and response').click();
    await dialog.getByText('Not recorded.').first().waitFor();
    await closeDialog(page, 'Done');
    await row.getByRole('button', { name: 'Resend' }).click();
    await page.getByText('Event is being resent').waitFor();
    assert.ok(stage.service.redelivered.some(({ deliveryId }) => deliveryId === taskEventId(taskId)));
    await assertAccessible(page, 'the events');

    const viewer = await stage.visitor.signedIn({ [accountId]: 'viewer' });
    await viewer.open(`/a/${accountId}/webhooks`);
    await viewer.page.getByText('https://receiver.example/events').waitFor();
    assert.equal(await viewer.page.getByRole('button', { name: 'Reveal secret' }).count(), 0);
    assert.equal(await viewer.page.getByRole('button', { name: 'Edit' }).getAttribute('aria-disabled'), 'true');
    assert.deepEqual(errors, []);
  },
);

test(
  'operators see the purchases of all accounts and of one, what was paid but not granted, and the money received',
  { skip },
  async () => {
    const { accountId } = await stage.service.newAccount(0);
    const { page, errors, open } = await stage.visitor.signedIn({ [accountId]: 'owner' }, { operator: true });
    await stage.leavesForStripe(page);
    await open(`/a/${accountId}/credits`);
    await startCheckout(page, 'Agency', '€499.00');
    const { sessions } = stage.stripe.records;
    const session = sessions.get(stage.lastSession()) ?? assert.fail('there is no checkout');
    sessions.set(session.id, { ...session, amount_total: 1 });
    stage.pay();
    await stage.deliver();

    await open('/ops/payments');
    await page.getByRole('alert').getByText('1 payment was not granted').waitFor();
    const ungranted = page.getByRole('table', { name: 'Paid but not granted' });
    await ungranted.getByRole('row', { name: /The amount paid differs from the price/ }).waitFor();
    const all = page.getByRole('table', { name: 'Purchases' });
    await all.getByRole('row', { name: /700,000 credits/ }).waitFor();
    await assertAccessible(page, 'the payments of all accounts');
    await page.getByLabel('State').selectOption('Paid');
    await all.getByRole('row', { name: /700,000 credits/ }).waitFor({ state: 'detached' });

    await open(`/ops/accounts/${accountId}?tab=purchases`);
    await all
      .getByRole('row', { name: /700,000 credits/ })
      .getByRole('button', { name: 'Copy Stripe ID' })
      .waitFor();

    await open('/ops/providers');
    await settled(page);
    const margin = page.getByRole('region', { name: 'Cost and margin' });
    await margin.getByText('Received in EUR (test)').waitFor();
    await margin.getByText('Top-ups').waitFor();
    await assertAccessible(page, 'the margin');
    assert.deepEqual(errors, []);
  },
);
