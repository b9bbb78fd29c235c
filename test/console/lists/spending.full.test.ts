import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createCodesAs } from '../../../src/credits/ledger/redemption-codes.ts';
import { listSpendCapsOfAccount, setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  closeDialog,
  focused,
  startVisitor,
  tryAgain,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

// Spend limits of owners, and codes that operators create and owners redeem.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  visitor = await startVisitor({ baseUrl: service.url, database: service.database });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

test('an owner limits the account and reads what is used; an empty field removes the limit', { skip }, async () => {
  await awayFromMidnight();
  const { accountId, key } = await service.newAccount(1_000);
  const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
  await page.goto(`${service.url}/console/a/${accountId}/credits`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Set limit' }).click();
  await dialog.getByLabel('Per day').fill('300');
  await assertAccessible(page, 'the dialog of a limit');
  await dialog.getByRole('button', { name: 'Save limits' }).click();
  const row = page.getByRole('table', { name: 'Spend limits' }).getByRole('row', { name: /The whole account Per day/ });
  await row.getByText('0 of 300').waitFor();
  assert.equal((await service.create(key, plainRequest)).status, 200);
  assert.equal((await service.create(key, plainRequest)).json.error, 'spend_cap_reached');
  await page.reload();
  await row.getByText('165 of 300').waitFor();
  await row.getByRole('button', { name: 'Change the limits of The whole account' }).click();
  assert.equal(await dialog.getByLabel('Per day').inputValue(), '300');
  await dialog.getByLabel('Per day').fill('');
  await dialog.getByRole('button', { name: 'Save limits' }).click();
  await row.waitFor({ state: 'detached' });
  assert.equal((await service.create(key, plainRequest)).status, 200);
  assert.deepEqual(errors, []);
});

test(
  'a limit that is saved leaves alone those that another owner has set since the form was opened',
  { skip },
  async () => {
    const { accountId } = await service.newAccount(1_000);
    const { db } = service.database;
    const subject = { kind: 'account', id: accountId } as const;
    await setSpendCaps(db, accountId, subject, { day: 300, total: 5_000 });
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
    await page.goto(`${service.url}/console/a/${accountId}/credits`);
    await page.getByRole('button', { name: 'Change the limits of The whole account' }).first().click();
    const dialog = page.getByRole('dialog');
    assert.equal(await dialog.getByLabel('In total').inputValue(), '5000');
    await setSpendCaps(db, accountId, subject, { month: 2_000, total: 4_000 });
    await dialog.getByLabel('Per day').fill('250');
    await dialog.getByRole('button', { name: 'Save limits' }).click();
    const table = page.getByRole('table', { name: 'Spend limits' });
    for (const used of ['0 of 250', '0 of 2,000', '0 of 4,000']) await table.getByText(used).waitFor();
    assert.deepEqual(
      (await listSpendCapsOfAccount(db, accountId)).map(({ period, credits }) => [period, credits]),
      [
        ['day', 250],
        ['month', 2_000],
        ['total', 4_000],
      ],
    );
    assert.deepEqual(errors, []);
  },
);

test('limits that cannot be read are not offered for a change', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  await setSpendCaps(service.database.db, accountId, { kind: 'account', id: accountId }, { day: 300 });
  const { page } = await visitor.signedIn({ [accountId]: 'owner' });
  const refusal = { code: 500, msg: 'internal error', error: 'internal', data: {} };
  await page.route('**/api/v1/caps', (route) => route.fulfill({ status: 500, json: refusal }));
  await page.goto(`${service.url}/console/a/${accountId}/credits`);
  const card = page.getByRole('region', { name: 'Spend limits' });
  await card.getByRole('alert').waitFor();
  const set = card.getByRole('button', { name: 'Set limit' });
  assert.equal(await set.getAttribute('aria-disabled'), 'true');
  await tryAgain(page, card, '**/api/v1/caps');
  await card.getByText('0 of 300').waitFor();
  await set.click();
  assert.equal(await page.getByRole('dialog').getByLabel('Per day').inputValue(), '300');
});

test('a key is created for one model with a limit, which it cannot exceed', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
  await page.goto(`${service.url}/console/a/${accountId}/keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('trial');
  await dialog.getByText('Models', { exact: true }).first().click();
  await dialog.getByRole('checkbox', { name: 'videogen-2.0', exact: true }).check();
  await dialog.getByText('Spend limits', { exact: true }).click();
  await dialog.getByLabel('In total').fill('10');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = await dialog.locator('.secret code').innerText();
  await closeDialog(page, 'Done');
  await page
    .getByRole('row', { name: /^trial/ })
    .getByText('Only videogen-2.0', { exact: true })
    .waitFor();
  assert.equal((await service.create(key, plainRequest)).json.error, 'model_not_allowed');
  const { status, json } = await service.create(key, { ...plainRequest, model: 'videogen-2.0' });
  assert.deepEqual([status, json.error], [402, 'spend_cap_reached']);
  assert.deepEqual(errors, []);
});

test('an invalid limit of a new key opens the folded limits and takes the focus', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  const { page } = await visitor.signedIn({ [accountId]: 'owner' });
  await page.goto(`${service.url}/console/a/${accountId}/keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('trial');
  const limits = dialog.getByText('Spend limits', { exact: true });
  const total = dialog.getByLabel('In total');
  await limits.click();
  // The browser refuses the first one, and the service the second one.
  for (const text of ['1.5', '9999999999999']) {
    await total.fill(text);
    await limits.click();
    await total.waitFor({ state: 'hidden' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await focused(total);
  }
});

test('an operator creates codes that are shown once, and withdraws those that are left', { skip }, async () => {
  const { page, errors } = await visitor.signedIn({}, { operator: true });
  await page.goto(`${service.url}/console/ops/codes`);
  await page.getByRole('button', { name: 'Create codes' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Spring');
  await dialog.getByLabel('Credits per code').fill('50');
  await dialog.getByLabel('Number of codes').fill('3');
  await dialog.getByRole('button', { name: /^Create 3 × 50/ }).click();
  const codes = (await dialog.locator('.secret code').innerText()).trim().split(/\s+/);
  assert.equal(codes.length, 3);
  await closeDialog(page, 'Done');
  const row = page.getByRole('row', { name: /^Spring/ });
  await row.getByText('0 of 3').waitFor();
  await row.getByRole('button', { name: 'Withdraw Spring' }).click();
  await dialog.getByLabel('Reason').fill('Printed twice');
  await dialog.getByRole('button', { name: 'Withdraw codes' }).click();
  await row.getByText('Withdrawn').waitFor();
  assert.deepEqual(errors, []);
});

/** Opens the dialog in which an operator creates codes, and fills it. */
async function fillCodes(name: string) {
  const { page } = await visitor.signedIn({}, { operator: true });
  await page.goto(`${service.url}/console/ops/codes`);
  await page.getByRole('button', { name: 'Create codes' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  return page;
}

test('a form that is submitted twice before the page shows it makes one batch of codes', { skip }, async () => {
  const page = await fillCodes('Summer');
  let sent = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/admin/v1/codes')) sent += 1;
  });
  await page.evaluate(`{
    const form = document.querySelector('dialog form');
    form.requestSubmit();
    form.requestSubmit();
  }`);
  await page.getByRole('dialog').locator('.secret code').waitFor();
  assert.equal(sent, 1);
});

test('codes whose answer was lost are in the list, and a lost response offers no safe retry', { skip }, async () => {
  const page = await fillCodes('Autumn');
  await page.route('**/api/admin/v1/codes', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await route.fetch();
    return route.abort('connectionreset');
  });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Create 10 ×/ }).click();
  await dialog.getByRole('alert').getByText('may or may not have been made').waitFor();
  await page.getByRole('row', { name: /^Autumn/ }).waitFor();
});

test('an owner redeems a code once, and a wrong code is refused in the dialog', { skip }, async () => {
  const actor = { kind: 'command_line', name: 'shell' } as const;
  const { codes } = await createCodesAs(service.database.db, actor, { name: 'Spring', credits: 250, codes: 1 });
  const { accountId } = await service.newAccount(1_000);
  const { page } = await visitor.signedIn({ [accountId]: 'owner' });
  await page.goto(`${service.url}/console/a/${accountId}/credits`);
  await page.getByRole('button', { name: 'Redeem code' }).click();
  const dialog = page.getByRole('dialog');
  const redeem = async (code: string) => {
    await dialog.getByLabel('Code').fill(code);
    await dialog.getByRole('button', { name: 'Redeem code' }).click();
  };
  await redeem('0000-0000-0000-0000');
  await dialog.getByRole('alert').waitFor();
  await redeem(codes[0]?.toLowerCase() ?? '');
  await page.getByRole('status').getByText('250 credits added. Balance: 1,250 credits').waitFor();
  await page.getByRole('cell', { name: 'Code of Spring' }).waitFor();
  await page.getByRole('button', { name: 'Redeem code' }).click();
  await redeem(codes[0] ?? '');
  await page.getByRole('status').getByText('already redeemed this code. Nothing was added.').waitFor();
});
