import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { settled, show } from '../../support/console/console-visitor.ts';
import { findAccount, changeAccountLimitsAs, setAccountSuspendedAs } from '../../../src/accounts/accounts.ts';
import { plainRequest } from '../../support/service/http-service.ts';
import { type Person } from '../../support/service/person.ts';
import { actionsOn, type SeededOperatorsStage, startSeededOperatorsStage } from './operators-stage.ts';

const skip = skipWithoutBrowser();

describe('an operator and an account', { skip }, () => {
  let stage: SeededOperatorsStage;
  let page: Page;
  let owner: Person;
  let seeded: SeededOperatorsStage['seeded'];
  before(async () => {
    stage = await startSeededOperatorsStage();
    ({ page, owner, seeded } = stage);
  });
  after(() => stage.close());

  const { open, dialog, dialogShows, press, confirm, choose, said, audited } = actionsOn(() => stage);
  const openAccount = (tab = 'ledger') => open(`/ops/accounts/${seeded.accountId}?tab=${tab}`);
  const balance = async () => {
    const { json } = await owner.ask('GET', '/api/v1/credits', { accountId: seeded.accountId });
    return Number(json.data['balance']);
  };
  const figure = (value: number) => value.toLocaleString('en');

  test('grants credits, and reads the new balance and the entry with its reason', async () => {
    const earlier = await balance();
    await openAccount();
    await press('Grant credits');
    await dialog().getByLabel('Credits').fill('500');
    await dialog().getByLabel('Reason').fill('Invoice 2026-118');
    await confirm('Grant 500 credits');
    await said(`Balance updated: ${figure(earlier + 500)} credits`);
    await page.getByRole('cell', { name: 'Invoice 2026-118' }).waitFor();
    assert.equal(await balance(), earlier + 500);
  });

  test('an adjustment below zero is refused with the balance, and the corrected one is booked', async () => {
    const earlier = await balance();
    await openAccount();
    await press('Adjust');
    const field = dialog().getByLabel('Change in credits');
    await field.fill('-9999999');
    await dialog().getByLabel('Reason').fill('Correction');
    await confirm('Remove 9,999,999 credits');
    await dialog().getByRole('alert').getByText(`it is ${earlier} credits`).waitFor();
    await field.fill('-250');
    await confirm('Remove 250 credits');
    await said(`Balance updated: ${figure(earlier - 250)} credits`);
    assert.equal(await balance(), earlier - 250);
  });

  test('sends nothing to the service before a reason is given', async () => {
    await openAccount();
    await choose('Suspend');
    let sent = 0;
    page.on('request', (request) => (sent += request.method() === 'POST' ? 1 : 0));
    await confirm('Suspend account');
    await dialog().locator('input:invalid').and(dialog().getByLabel('Reason')).and(page.locator(':focus')).waitFor();
    assert.equal(sent, 0);
    await page.keyboard.press('Escape');
  });

  test('announces a price of one account, which the account sees, and withdraws it', async () => {
    await openAccount('prices');
    await press('Set price of videogen-2.0-fast');
    await dialog().getByLabel('Credits/s').fill('27');
    await dialog().getByText('Later').click();
    await dialog().getByLabel('Time', { exact: true }).fill('2031-05-04T10:00');
    await dialog().getByLabel('Reason').fill('Volume agreement');
    await confirm('Announce price');
    await page.getByText('from May 4, 2031').waitFor();
    const announced = async () => {
      const { json } = await owner.ask('GET', '/api/v1/models', { accountId: seeded.accountId });
      return JSON.stringify(json.data['models']).includes('{"creditsPerSecond":27,');
    };
    assert.equal(await announced(), true);
    await press('Withdraw');
    await dialog().getByLabel('Reason').fill('Not signed');
    await confirm('Withdraw price');
    await page.getByText('Withdrawn', { exact: true }).waitFor();
    assert.equal(await announced(), false);
  });

  test('limits an account', async () => {
    await openAccount('limits');
    await press('Change limits');
    await dialog().getByLabel('Unfinished tasks at a time').fill('-1');
    await confirm('Change limits');
    await dialog().locator('input:invalid').and(page.locator(':focus')).waitFor();
    await dialog().getByLabel('Unfinished tasks at a time').fill('7');
    await dialog().getByLabel('Custom rate for new tasks').check();
    await dialog().getByLabel('Tasks', { exact: true }).fill('3');
    await dialog().getByLabel('Period in seconds').fill('60');
    await confirm('Change limits');
    await page.getByText('limit 7').waitFor();
    await page.getByText(/3 per 60\ss/).waitFor();
  });

  test('leaves a limit alone that another operator has changed since the form was opened', async () => {
    const accountId = await createAccount(stage.service.database.db, { name: 'Harbour Films', credits: 10 });
    const shell = { kind: 'command_line', name: 'shell' } as const;
    await open(`/ops/accounts/${accountId}?tab=limits`);
    await press('Change limits');
    const rate = { quota: 5, windowMs: 30_000 };
    await changeAccountLimitsAs(stage.service.database.db, shell, {
      accountId,
      maxUnfinishedTasks: 8,
      createRate: rate,
    });
    await dialog().getByLabel('Unfinished tasks at a time').fill('9');
    await confirm('Change limits');
    await page.getByText('limit 9').waitFor();
    await page.getByText(/5 per 30\ss/).waitFor();
  });

  test('suspends an account, which then creates nothing, and lifts the suspension', async () => {
    const create = () =>
      owner.ask('POST', '/api/v1/jobs/createTask', { accountId: seeded.accountId, body: plainRequest });
    await openAccount();
    await choose('Suspend');
    await dialog().getByLabel('Reason').fill('Unpaid invoices');
    await confirm('Suspend account');
    await page.getByText('This account is suspended').waitFor();
    assert.equal((await create()).json.error, 'account_suspended');
    await page.getByRole('link', { name: 'See who did it and why' }).click();
    await audited([['Suspended account', 'Unpaid invoices']]);
    await openAccount();
    await choose('Lift suspension');
    await dialog().getByLabel('Reason').fill('Paid');
    await confirm('Lift suspension');
    await page.getByText('This account is suspended').waitFor({ state: 'detached' });
    assert.equal((await create()).status, 200);
  });

  test('a dialog that suspends keeps its action when another operator suspends the account first', async () => {
    const { db } = stage.service.database;
    const accountId = await createAccount(db, { name: 'Harbour Films', credits: 10 });
    const shell = { kind: 'command_line', name: 'shell' } as const;
    await open(`/ops/accounts/${accountId}`);
    await choose('Suspend');
    await dialog().getByLabel('Reason').fill('Unpaid invoices');
    await setAccountSuspendedAs(db, shell, { accountId, suspended: true, reason: 'Fraud' });
    await show(page, 'visible');
    await page.getByText('This account is suspended').waitFor();
    await confirm('Suspend account');
    await dialog().waitFor({ state: 'detached' });
    assert.notEqual((await findAccount(db, accountId))?.suspendedAt, undefined);
  });

  test('closes an account once its name is typed; its page then offers nothing that would be refused', async () => {
    const accountId = await createAccount(stage.service.database.db, { name: 'Harbour Films', credits: 10 });
    await open(`/ops/accounts/${accountId}`);
    await choose('Close account');
    await dialogShows(/^Retained: the ledger/);
    await dialog().getByRole('button', { name: 'Keep account' }).waitFor();
    await dialog().getByLabel('Reason').fill('Asked for by its owner');
    const button = dialog().getByRole('button', { name: 'Close account' });
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
    await dialog().getByLabel('Type Harbour Films to confirm').fill('Harbour Films');
    await confirm('Close account');
    await page.getByText('This account is closed').waitFor();
    for (const name of ['More actions', 'Grant credits'])
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    for (const [tab, name] of [
      ['keys', 'Create key'],
      ['members', 'Invite'],
    ] as const) {
      await open(`/ops/accounts/${accountId}?tab=${tab}`);
      await page.getByText('This account is closed').waitFor();
      await settled(page);
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    }
    await open('/ops/accounts');
    await page
      .getByRole('row', { name: /Harbour Films/ })
      .getByText('Closed')
      .waitFor();
  });

  test('the audit log names the person for every change, with the reason', async () => {
    await open('/ops/audit');
    await audited([
      ['Granted credits', 'Invoice 2026-118'],
      ['Adjusted balance', 'Correction'],
      ['Set price', 'Volume agreement'],
      ['Changed limits', '–'],
      ['Suspended account', 'Unpaid invoices'],
    ]);
  });
});
