import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { createAccount } from '../../../src/credits/open-account.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { becomes, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

// Operators of an installation with more accounts than one page of them holds.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
let accountId: string;
const accountIds: string[] = [];
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  const { db } = service.database;
  for (let number = 0; number < 100; number++)
    accountIds.push(await createAccount(db, { name: `a ${number}`, credits: 1_000 }));
  const first = await createAccount(db, { name: 'a first', credits: 1_000 });
  await acceptTestTask(db, first, taskParam('of another account'));
  accountId = await createAccount(db, { name: 'zz last', credits: 1_000 });
  await acceptTestTask(db, accountId, taskParam('of the last account'));
  visitor = await startVisitor({ baseUrl: service.url, database: service.database });
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

test('every account has its name in lists, and can be searched for and chosen', { skip }, async () => {
  const { page, errors } = await visitor.signedIn({}, { operator: true });
  await page.goto(`${service.url}/console/ops/tasks`);
  await page.getByRole('link', { name: 'zz last' }).waitFor();
  const field = page.getByRole('combobox', { name: 'Account' });
  const choose = async (input: Locator) => {
    const choice = `zz last (${accountId})`;
    await input.fill('zz');
    await page.locator(`input + datalist option[value="${choice}"]`).last().waitFor({ state: 'attached' });
    await input.fill(choice);
  };
  await choose(field);
  await page.waitForURL((url) => url.searchParams.get('account') === accountId);
  await page.getByRole('link', { name: 'of another account' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'of the last account' }).waitFor();
  await becomes('the name of the account', () => field.inputValue(), 'zz last');
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await becomes('an empty field', () => field.inputValue(), '');
  await page.goto(`${service.url}/console/ops/people`);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await choose(dialog.getByRole('combobox', { name: 'Account' }));
  await dialog.getByText('Role in the account').waitFor();
  assert.deepEqual(errors, []);
});

test('a model without an account is searched in seven days, and the filter says so', { skip }, async () => {
  const { page } = await visitor.signedIn({}, { operator: true });
  await page.goto(`${service.url}/console/ops/tasks`);
  const created = page.getByLabel('Created');
  const chosen = async () => await created.locator('option:checked').innerText();
  await created.waitFor();
  assert.equal(await chosen(), 'Any time');
  await page.goto(`${service.url}/console/ops/tasks?model=videogen-2.0`);
  await created.waitFor();
  assert.deepEqual(await created.locator('option').allInnerTexts(), [
    'Last 7 days',
    'Last hour',
    'Last 24 hours',
    'Custom dates, 7 days at most',
  ]);
});

test('a member of many accounts reaches the last one in the menu of accounts', { skip }, async () => {
  const { page, open } = await visitor.signedIn(Object.fromEntries(accountIds.map((id) => [id, 'viewer' as const])));
  await open();
  await page.getByRole('button', { name: /^Account: / }).click();
  const last = page.getByRole('group', { name: 'Accounts' }).getByRole('link').last();
  const path = await last.getAttribute('href');
  // A link outside of the window would take no click.
  await last.click();
  await page.waitForURL((url) => url.pathname === path);
});
