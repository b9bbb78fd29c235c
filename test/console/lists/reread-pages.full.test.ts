import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import { eventTypes } from '../../../src/tasks/callbacks/account-event-types-and-body.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { becomes, show, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

// Pages are read again while a person uses them. What is open stays open, and what belongs to one list changes no other.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
/** Passkeys need a name. */
const address = () => service.url.replace('127.0.0.1', 'localhost');
before(async () => {
  if (skip !== false) return;
  service = await startHttpService({
    console: {
      get publicUrl() {
        return address();
      },
      passwordSignIn: true,
    },
  });
  visitor = await startVisitor({ baseUrl: address(), database: service.database });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

/** From now on the service answers reads of this path as if each `from` were `to`. */
async function rewrite(page: Page, path: string, from: string, to: string): Promise<void> {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll(from, to) });
  });
}

test(
  'a passkey is added from the list or from the empty list, never from a button that goes when the list is read',
  { skip },
  async () => {
    const { accountId } = await service.newAccount(0);
    const { page } = await visitor.signedIn({ [accountId]: 'owner' });
    const passkeys = '**/api/console/v1/passkeys';
    await page.route(passkeys, () => undefined);
    await page.goto(`${address()}/console/a/${accountId}/security`);
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
    const add = page.getByRole('button', { name: 'Add passkey' });
    assert.equal(await add.count(), 0);
    await page.unroute(passkeys);
    await page.reload();
    await add.waitFor();
  },
);

test('the reason to withdraw a price is not lost when the price takes effect meanwhile', { skip }, async () => {
  const { page, open } = await visitor.signedIn({}, { operator: true });
  await open('/ops/prices');
  await page.getByRole('button', { name: /^Set price of videogen-2\.0-fast/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Credits/s').fill('27');
  await dialog.getByText('Later').click();
  await dialog.getByLabel('Time', { exact: true }).fill('2031-05-04T10:00');
  await dialog.getByLabel('Reason').fill('Volume agreement');
  await dialog.getByRole('button', { name: 'Announce price' }).click();
  await page.getByRole('button', { name: 'Withdraw' }).click();
  const reason = dialog.getByLabel('Reason');
  await reason.fill('Not signed');
  await rewrite(page, '**/api/admin/v1/prices?*', '"announced"', '"in_force"');
  await show(page, 'visible');
  await page.getByText('In force').waitFor();
  assert.equal(await reason.inputValue(), 'Not signed');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Withdraw' }).waitFor({ state: 'detached' });
});

test('the details of an event stay when the event leaves the filtered list', { skip }, async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const { db } = service.database;
  await setEventEndpoint(db, accountId, { url: 'http://events.test/', types: eventTypes });
  const taskId = String((await service.create(key, plainRequest)).json.data['taskId']);
  await failAndRefund(db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/webhooks?state=pending`);
  await page.getByRole('button', { name: 'Details of task.failed' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A task failed').waitFor();
  const none = { code: 200, msg: 'success', data: { events: [], nextCursor: null } };
  await page.route('**/api/v1/events?*', (route) => route.fulfill({ json: none }));
  await show(page, 'visible');
  await page.getByText('No events match these filters').waitFor();
  await dialog.getByText('A task failed').waitFor();
});

test('the pages of the security events leave the list of the members alone', { skip }, async () => {
  const { accountId } = await service.newAccount(0);
  const text = `insert into security_events (kind, account_id, details) select 'link_made', $1::uuid, '{}' from generate_series(1, 21)`;
  await service.database.db.run({ name: 'test-security-events', text }, [accountId]);
  const { page, email, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/members`);
  const pager = page.getByRole('navigation', { name: /^Pages of/ });
  await pager.getByRole('button', { name: 'Older' }).click();
  const events = page.getByRole('table', { name: 'Security events, newest first' }).locator('tbody tr');
  await becomes('the second page', async () => (await events.count()) < 20, true);
  assert.equal(await pager.count(), 1);
  await page.getByRole('row', { name: new RegExp(email) }).waitFor();
});
