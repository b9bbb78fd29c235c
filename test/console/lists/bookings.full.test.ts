import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { type OperatorsStage, startOperatorsStage } from '../operators/operators-stage.ts';

// What an operator books is booked once, and a figure that is none changes nothing.

const skip = skipWithoutBrowser();

describe('an operator who books credits', { skip }, () => {
  let stage: OperatorsStage;
  let page: Page;
  before(async () => {
    stage = await startOperatorsStage();
    ({ page } = stage);
  });
  after(async () => {
    const violations = await auditLedger(stage.service.database.db);
    await stage.close();
    assert.deepEqual(violations, []);
  });

  /** The page of a new account. */
  const openAccount = async (tab = 'ledger') => {
    const accountId = await createAccount(stage.service.database.db, { name: 'Harbour Films', credits: 100 });
    await page.goto(`${stage.service.url}/console/ops/accounts/${accountId}?tab=${tab}`);
    return accountId;
  };
  const balanceOf = async (accountId: string) => (await findAccount(stage.service.database.db, accountId))?.balance;
  const dialog = () => page.getByRole('dialog');
  const fillGrant = async (credits: string) => {
    await page.getByRole('button', { name: 'Grant credits' }).click();
    await dialog().getByLabel('Credits').fill(credits);
    await dialog().getByLabel('Reason').fill('Invoice 2026-118');
  };
  const press = () =>
    dialog()
      .getByRole('button', { name: /^Grant \d/ })
      .click();
  const alert = () => dialog().getByRole('alert');
  const isGranted = (balance: number) =>
    page.getByRole('status').getByText(`Balance updated: ${balance} credits`).waitFor();
  const close = async () => {
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await dialog().waitFor({ state: 'detached' });
  };
  /** The first answers are not as the service gave them. */
  const answering = async (...answers: readonly ((route: Route) => Promise<void>)[]) => {
    let count = 0;
    await page.route('**/credits/grant', (route) => (answers[count++] ?? ((one: Route) => one.continue()))(route));
  };
  const lost = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  const refused = (error: string, code: number) => (route: Route) =>
    route.fulfill({ status: code, json: { code, msg: 'refused on the way', error, data: {} } });

  test('books once when the answer is lost and the button is pressed again', async () => {
    const accountId = await openAccount();
    await answering(lost);
    await fillGrant('500');
    await press();
    await alert().getByText('No connection').waitFor();
    await alert().getByText('the retry is safe').waitFor();
    await press();
    await isGranted(600);
    assert.equal(await balanceOf(accountId), 600);
  });

  test('books once when a lost answer is followed by refusals that come before the booking is looked up', async () => {
    const accountId = await openAccount();
    await answering(lost, refused('rate_limited', 429), refused('database_unavailable', 503));
    await fillGrant('500');
    for (const word of ['No connection', 'Too many requests', 'The service is recovering']) {
      await press();
      await alert().getByText(word).waitFor();
    }
    await press();
    await isGranted(600);
    assert.equal(await balanceOf(accountId), 600);
  });

  test('is informed when another amount follows a lost answer that was booked, and books it when that is meant', async () => {
    const accountId = await openAccount();
    await answering(lost);
    await fillGrant('500');
    await press();
    await alert().getByText('No connection').waitFor();
    await dialog().getByLabel('Credits').fill('70');
    await press();
    await alert().getByText('An earlier attempt with other values succeeded.').waitFor();
    assert.equal(await balanceOf(accountId), 600);
    await press();
    await isGranted(670);
    assert.equal(await balanceOf(accountId), 670);
  });

  test('is told at once that the browser is offline, and nothing is booked when it is back', async () => {
    const accountId = await openAccount();
    await page.unroute('**/credits/grant');
    await fillGrant('500');
    await page.context().setOffline(true);
    await press();
    await alert().getByText('No connection').waitFor();
    await close();
    await page.context().setOffline(false);
    await page.getByText('The service is not responding.').waitFor({ state: 'detached' });
    await fillGrant('20');
    await press();
    await isGranted(120);
    assert.equal(await balanceOf(accountId), 120);
  });

  test('a price that is no whole number, and a missing time, are refused at their fields', async () => {
    await openAccount('prices');
    const open = () => page.getByRole('button', { name: 'Set price of videogen-2.0-fast' }).click();
    const price = dialog().getByLabel('Credits/s');
    for (const text of ['', '12.5']) {
      // A new dialog shows no message yet, so the one below is about this text.
      await open();
      await price.fill(text);
      await dialog().getByLabel('Reason').fill('Volume agreement');
      await dialog().getByRole('button', { name: 'Set price' }).click();
      await dialog().locator('input:invalid').and(price).and(page.locator(':focus')).waitFor();
      await close();
    }
    await open();
    await price.fill('27');
    await dialog().getByLabel('Reason').fill('Volume agreement');
    await dialog().getByText('Later').click();
    await dialog().getByRole('button', { name: 'Announce price' }).click();
    await dialog()
      .locator('input:invalid')
      .and(dialog().getByLabel('Time', { exact: true }))
      .waitFor();
    const rows = await stage.service.database.db.run({ name: 'set-prices', text: 'select model from prices' });
    assert.equal(rows.length, 0);
  });

  test('works where the browser makes no random ids: over plain http on another machine', async () => {
    await page.addInitScript('delete Crypto.prototype.randomUUID');
    const accountId = await openAccount();
    await fillGrant('500');
    await press();
    await isGranted(600);
    assert.equal(await balanceOf(accountId), 600);
  });
});
