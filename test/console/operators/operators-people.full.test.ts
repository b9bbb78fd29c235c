import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { assertAccessible, settled } from '../../support/console/console-visitor.ts';
import { newPerson, type Person } from '../../support/service/person.ts';
import { actionsOn, type SeededOperatorsStage, startSeededOperatorsStage } from './operators-stage.ts';

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

describe('an operator, people and their view', { skip }, () => {
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

  test('invites a user, grants and removes operator access, and disables a user', async () => {
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
    await press(`Actions for ${guest.email}`);
    await page.getByRole('button', { name: 'Erase' }).click();
    const erase = dialog().getByRole('button', { name: 'Erase person' });
    assert.equal(await erase.getAttribute('aria-disabled'), 'true', 'the address has to be typed');
    await dialog().getByLabel(`Type ${guest.email} to confirm`).fill(guest.email);
    await confirm('Erase person');
    await said('Person erased');
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

  test('a user who is not an operator has no access to these pages', async () => {
    const theirs = await stage.openAs(owner);
    for (const path of ['', '/accounts', '/tasks', '/people', `/accounts/${seeded.accountId}`]) {
      await theirs.goto(`${stage.service.url}/console/ops${path}`);
      await theirs.getByText('You don’t have access to this page').waitFor();
    }
  });

  test('the audit log names the person for every change, with the reason', async () => {
    await open('/ops/audit');
    await audited([['Viewed account as its owner', 'Ticket 118']]);
  });
});
