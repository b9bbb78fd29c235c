import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import { reserveSlot } from '../../src/providers/slots.ts';
import { confirmCharge, failAndRefund } from '../../src/tasks/tasks.ts';
import { assertAccessible, focused, settled, show } from '../support/console.ts';
import { createAccount, findAccount, limitAccountAs, suspendAccountAs } from '../../src/accounts/accounts.ts';
import { plainRequest } from '../support/http-service.ts';
import { newPerson, type Person } from '../support/person.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { type OperatorsStage, seed, startOperatorsStage } from './operators-stage.ts';

const skip = skipWithoutBrowser();

/** Buttons of an account's pages that begin a change, by the end of the page's address. */
const changesByPage = {
  keys: ['Create key', 'Rotate seeded', 'Revoke seeded'],
  credits: ['Redeem code', 'Set limit', 'Change the limits of The whole account', 'Save warning'],
  webhooks: ['Add endpoint'],
  callbacks: ['Resend failed callbacks', 'Send test'],
  members: ['Invite'],
  settings: ['Save', 'Close account'],
  playground: ['Generate'],
};

describe('an operator in the console', { skip }, () => {
  let stage: OperatorsStage;
  let page: Page;
  let owner: Person;
  let seeded: Awaited<ReturnType<typeof seed>>;
  before(async () => {
    stage = await startOperatorsStage();
    ({ page } = stage);
    seeded = await seed(stage.service);
    owner = await newPerson(stage.service, { roles: { [seeded.accountId]: 'owner' } });
  });
  after(async () => {
    const violations = await auditLedger(stage.service.database.db);
    await stage.close();
    assert.deepEqual(violations, []);
  });

  const open = async (path: string) => {
    await page.goto(`${stage.service.url}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  const openAccount = (tab = 'ledger') => open(`/ops/accounts/${seeded.accountId}?tab=${tab}`);
  const dialog = () => page.getByRole('dialog');
  const dialogShows = (text: string | RegExp) => dialog().getByText(text).waitFor();
  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const confirm = (name: string | RegExp) => dialog().getByRole('button', { name }).click();
  /** From the menu of an account. */
  const choose = async (item: string) => {
    await press('More actions');
    await page.getByRole('button', { name: item, exact: true }).click();
  };
  const balance = async () => {
    const { json } = await owner.ask('GET', '/api/v1/credits', { accountId: seeded.accountId });
    return Number(json.data['balance']);
  };
  const said = (text: string | RegExp) => page.getByRole('status').getByText(text).waitFor();
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
    await limitAccountAs(stage.service.database.db, shell, { accountId, maxUnfinishedTasks: 8, createRate: rate });
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
    await suspendAccountAs(db, shell, { accountId, suspended: true, reason: 'Fraud' });
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

  test('finds a task of any account, sees its upstream jobs, and cancels it with a full refund', async () => {
    await open('/ops/tasks?state=generating');
    await page.getByRole('link', { name: 'Paper boats on a river in the rain, close up' }).click();
    await page.getByRole('table', { name: 'Upstream jobs' }).getByText('1. studio-gpu').waitFor();
    const temporal = await page.getByRole('link', { name: 'Temporal' }).getAttribute('href');
    assert.ok(temporal?.includes(seeded.generating));
    await press('Cancel');
    await dialog().getByLabel('Reason').fill('Asked for by mail');
    await confirm('Cancel task');
    await said(/^Task cancelled, 132\scredits refunded$/);
    const ledger = page.getByRole('table', { name: 'Ledger entries of this task' });
    await ledger.getByRole('row', { name: /Refund #\d+ \+132/ }).waitFor();
  });

  test('sends a failed callback again', async () => {
    await open('/ops/callbacks');
    await page.getByRole('columnheader', { name: 'Occurred' }).waitFor();
    const row = page.getByRole('row', { name: /films\.example\.com/ });
    await row.getByRole('button', { name: 'Resend' }).click();
    await said('Callback is being resent');
    await row.waitFor({ state: 'detached' });
    assert.deepEqual(
      stage.service.redelivered.map(({ deliveryId }) => deliveryId),
      [seeded.failed],
    );
  });

  test('lets a provider drain, and sees unknown cost as unknown', async () => {
    await open('/ops/providers');
    await press('Switch backup-gpu');
    await dialog().getByText('Draining', { exact: true }).click();
    await dialog().getByLabel('Reason').fill('New drivers');
    await confirm('Drain');
    await said('backup-gpu: draining');
    await page.getByText('“New drivers”').waitFor();
    const margin = page.getByRole('table', { name: 'Cost and margin by price and provider' });
    await margin.getByRole('row', { name: /studio-gpu .* at least .*1 unknown unknown$/ }).waitFor();
  });

  test('tests a provider, and sees what it answered and how fast', async () => {
    await open('/ops/providers');
    await press('Test studio-gpu');
    await confirm('Run test');
    await dialogShows('Works');
    await dialogShows(/^12\sms$/);
    await confirm('Done');
  });

  test('sees what waits and why, and ends the wait of one task and of a provider', async () => {
    const { db } = stage.service.database;
    const { accountId } = seeded;
    const reserve = async () => {
      const taskId = await acceptTestTask(db, accountId, taskParam('It waits'));
      await confirmCharge(db, taskId);
      const pool = { pool: 'studio-gpu/film-large', provider: 'studio-gpu' };
      await reserveSlot(db, { taskId, ordinal: 1, accountId, ...pool, limit: 1 });
      return taskId;
    };
    const [first, waiting] = [await reserve(), await reserve()];
    await open('/ops/waiting');
    const reasons = page.getByRole('table', { name: 'Reasons' });
    await reasons.getByRole('row', { name: /Provider limit .* studio-gpu\/film-large 1 / }).waitFor();
    await press(/^Retry task .* now$/);
    await dialog().getByLabel('Reason').fill('A customer waits');
    await confirm('Retry now');
    await said('Task is being retried');
    await press('Retry studio-gpu now');
    await dialog().getByLabel('Reason').fill('It works again');
    // The wait ends while the reason is typed.
    const none = { code: 200, msg: 'success', data: { groups: [], tasks: [], accounts: [] } };
    await page.route('**/api/admin/v1/waiting*', (route) => route.fulfill({ json: none }));
    await show(page, 'visible');
    await page.getByText('Nothing is waiting').waitFor();
    await page.unroute('**/api/admin/v1/waiting*');
    await confirm('Retry now');
    await said('1 task is being retried');
    await focused(page.getByRole('main'));
    assert.deepEqual(stage.service.retried, [waiting, waiting]);
    for (const taskId of [first, waiting])
      await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  });

  test('reads figures over time, of each point by keyboard, for another range, and the top accounts', async () => {
    await open('/ops');
    const chart = page.getByRole('figure', { name: 'Success rate' });
    const points = chart.getByRole('img');
    await points.last().focus();
    await chart.locator('.tip').getByText('Success rate').waitFor();
    await page.keyboard.press('ArrowLeft');
    await points.nth(22).and(page.locator(':focus')).waitFor();
    assert.equal(await points.count(), 24);
    await page.getByRole('combobox', { name: 'Range' }).selectOption('30 days');
    await page.waitForURL(/range=month/);
    await points.nth(29).waitFor();
    const accounts = page.getByRole('table', { name: 'Top accounts' });
    await accounts.getByRole('row', { name: /^Northlight Studio/ }).waitFor();
    const providers = page.getByRole('table', { name: 'Providers over time' });
    await providers.getByRole('row', { name: /^studio-gpu \d+ 1 / }).waitFor();
  });

  test('sees the loaded catalogue with its models and providers', async () => {
    await open('/ops/catalogue');
    const models = page.getByRole('table', { name: 'Models' });
    await models.getByRole('row', { name: /videogen-2\.0-fast .* 33\scredits .* studio-gpu .* backup-gpu/ }).waitFor();
  });

  test('announces something, which everyone sees until it is removed', async () => {
    await open('/ops');
    await press('Announcement');
    await dialog().getByLabel('Text').fill('Maintenance on Sunday');
    await dialog().getByText('Warning', { exact: true }).click();
    await dialog().getByLabel('Link').fill('https://status.example.com/');
    const end = dialog().getByLabel('Ends');
    await end.fill('2020-01-01T00:00');
    await confirm('Publish');
    await end.and(page.locator('input:invalid:focus')).waitFor();
    await end.fill('');
    await confirm('Publish');
    const banner = (on: Page) => on.getByRole('status').filter({ hasText: 'Maintenance on Sunday' });
    await banner(page).waitFor();
    const theirs = await stage.openAs(owner);
    await theirs.goto(`${stage.service.url}/console/a/${seeded.accountId}`);
    await banner(theirs).getByRole('link', { name: 'Learn more' }).waitFor();
    await theirs.context().close();
    await press('Announcement');
    await confirm('Remove');
    await banner(page).waitFor({ state: 'detached' });
  });

  test('views an account as its owner sees it, can change nothing there, and leaves', async () => {
    const make = (path: string, body: object) =>
      owner.ask('POST', path, { accountId: seeded.accountId, body }).then(({ status }) => assert.equal(status, 200));
    await make('/api/v1/keys', { name: 'seeded' });
    await make('/api/v1/caps', { month: 1_000_000 });
    await open(`/a/${seeded.accountId}`);
    await page.getByText('You don’t have access to this page').waitFor();
    await openAccount();
    await choose('View as owner');
    await dialog().getByLabel('Reason').fill('Ticket 118');
    await confirm('View account');
    const banner = page.getByText('You are viewing Northlight Studio as its owner sees it. Read-only.');
    await banner.waitFor();
    for (const [path, names] of Object.entries(changesByPage)) {
      await open(`/a/${seeded.accountId}/${path}`);
      for (const name of names) {
        const button = page.getByRole('button', { name }).first();
        await button.waitFor();
        assert.equal(await button.getAttribute('aria-disabled'), 'true', `${path}: ${name}`);
      }
      await assertAccessible(page, `${path} in the view of an account`);
    }
    // An archive changes nothing, so the server makes one for an operator, too.
    await open(`/a/${seeded.accountId}/gallery`);
    await page
      .getByLabel(/^Select: /)
      .first()
      .click();
    // The seeded video has no file.
    const zip = { contentType: 'application/zip', headers: { 'content-disposition': 'attachment' }, body: 'zip' };
    await page.route('**/media/**', (route) => route.fulfill(zip));
    await press('Download ZIP');
    await said('Your download has started');
    await page.unroute('**/media/**');
    assert.equal(await page.getByRole('button', { name: 'Delete content' }).getAttribute('aria-disabled'), 'true');
    const refused = await stage.ada.ask('POST', '/api/v1/keys', { accountId: seeded.accountId, body: { name: 'a' } });
    assert.deepEqual([refused.status, refused.json.error], [403, 'read_only_view']);
    await page.route('**/console/v1/view/end', (route) => route.abort());
    await press('Stop viewing');
    await said(/^The service did not respond/);
    await page.unroute('**/console/v1/view/end');
    await press('Stop viewing');
    await page.waitForURL(new RegExp(`/ops/accounts/${seeded.accountId}$`));
    await open(`/a/${seeded.accountId}`);
    await page.getByText('You don’t have access to this page').waitFor();
  });

  test('makes a key that is shown once', async () => {
    await openAccount('keys');
    await press('Create key');
    await dialog().getByLabel('Name').fill('render farm');
    await confirm('Create key');
    const key = await dialog().getByText(/^vg_/).textContent();
    await confirm('Done');
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: /^render farm/ }).waitFor();
    assert.equal((await page.content()).includes(key ?? ''), false);
  });

  test('invites somebody, makes an operator and takes the right away, and disables a person', async () => {
    const guest = await newPerson(stage.service, { roles: { [seeded.accountId]: 'viewer' } });
    const act = async (item: string, button: string, answer: string) => {
      await press(`Actions for ${guest.email}`);
      await page.getByRole('button', { name: item }).click();
      await confirm(button);
      await said(answer);
    };
    await open('/ops/people');
    await press('Invite');
    await dialog().getByLabel('E-mail').fill('cleo@example.com');
    const create = dialog().getByRole('button', { name: 'Create link' });
    assert.equal(await create.getAttribute('aria-disabled'), 'true', 'without an account it is for operators only');
    const account = dialog().getByRole('combobox', { name: 'Account' });
    const choice = `Northlight Studio (${seeded.accountId})`;
    await page.locator(`datalist option[value="${choice}"]`).waitFor({ state: 'attached' });
    await account.fill(choice);
    await create.click();
    await dialogShows(/\/console\/invite#/);
    await confirm('Done');
    await act('Make operator', 'Make operator', `${guest.email} is now an operator`);
    await act('Remove operator access', 'Remove operator access', `${guest.email} is no longer an operator`);
    await act('Disable', 'Disable person', `${guest.email} disabled`);
    assert.equal((await guest.ask('GET', '/api/console/v1/me')).status, 401);
    await act('Enable', 'Enable person', `${guest.email} enabled`);
    await page.getByRole('link', { name: 'Security events' }).click();
    const events = page.getByRole('table', { name: 'Security events, newest first' });
    await events.getByText(`${guest.email}, by ${stage.ada.email}`).first().waitFor();
    await page.getByRole('link', { name: 'People', exact: true }).first().click();
    await act('Erase', 'Erase person', 'Person erased');
    await page.getByRole('button', { name: `Actions for ${guest.email}` }).waitFor({ state: 'detached' });
  });

  test('sees who may still become an operator by a link, and withdraws it', async () => {
    const invitations = page.getByRole('table', { name: 'Open operator invitations' });
    await open('/ops/people');
    await page.getByRole('button', { name: `Actions for ${stage.ada.email}` }).waitFor();
    await settled(page);
    assert.equal(await invitations.count(), 0);
    await press('Invite');
    await dialog().getByLabel('E-mail').fill('dora@example.com');
    await dialog().getByLabel('Operator').check();
    await confirm('Create link');
    await dialogShows(/\/console\/invite#/);
    await confirm('Done');
    await invitations.getByRole('row', { name: /dora@example\.com/ }).waitFor();
    await press('Revoke the invitation for dora@example.com');
    await said('Invitation revoked');
    await invitations.waitFor({ state: 'detached' });
  });

  test('the audit log names the person for every change, with the reason', async () => {
    await open('/ops/audit');
    for (const [what, why] of [
      ['Granted credits', 'Invoice 2026-118'],
      ['Adjusted balance', 'Correction'],
      ['Set price', 'Volume agreement'],
      ['Changed limits', '–'],
      ['Suspended account', 'Unpaid invoices'],
      ['Cancelled task', 'Asked for by mail'],
      ['Switched provider', 'New drivers'],
      ['Tested provider', '–'],
      ['Retried waiting tasks', 'It works again'],
      ['Set announcement', '–'],
      ['Viewed account as its owner', 'Ticket 118'],
    ] as const) {
      const row = page.getByRole('row').filter({ hasText: what }).filter({ hasText: why });
      await row.filter({ hasText: stage.ada.email }).first().waitFor();
    }
  });

  test('the overview refreshes every five seconds', async () => {
    await page.clock.install();
    await open('/ops');
    await page.getByText('Cancelled', { exact: true }).waitFor();
    const audited = { name: 'audited', text: 'update maintenance set audited_at = now()' };
    await stage.service.database.db.run(audited);
    await page.clock.fastForward(6_000);
    await page.getByText(/All balances match the ledger, checked/).waitFor();
  });

  test('a user who is not an operator has no access to these pages', async () => {
    const theirs = await stage.openAs(owner);
    for (const path of ['', '/accounts', '/tasks', '/people', `/accounts/${seeded.accountId}`]) {
      await theirs.goto(`${stage.service.url}/console/ops${path}`);
      await theirs.getByText('You don’t have access to this page').waitFor();
    }
  });
});
