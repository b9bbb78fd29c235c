import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  focused,
  startVisitor,
  type Visitor,
  windows,
} from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { runsWholeMatrix } from '../../support/tier.ts';

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

const palette = (page: Page) => page.getByRole('dialog', { name: 'Go to' });
const goals = (page: Page) => palette(page).getByRole('option');

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
}

test('a page is reached with a few letters and Enter, and the arrow keys go around', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open();
  await openPalette(page);
  await becomes('the number of pages', () => goals(page).count(), 14);
  await page.keyboard.type('billing');
  await goals(page)
    .filter({ hasText: /^Credits/ })
    .waitFor();
  await becomes('the number of pages found by another word', () => goals(page).count(), 1);
  await palette(page).getByRole('combobox').fill('');
  await page.keyboard.type('cred');
  await becomes('the number of pages found', () => goals(page).count(), 1);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Credits', level: 1 }).waitFor();
  await palette(page).waitFor({ state: 'detached' });

  await openPalette(page);
  await page.keyboard.press('ArrowUp');
  await palette(page)
    .getByRole('option', { name: /^Settings/, selected: true })
    .waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await palette(page)
    .getByRole('option', { name: /^Playground/, selected: true })
    .waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();

  await page.getByLabel('Prompt').fill('a lighthouse');
  await openPalette(page);
  await page.keyboard.type('nothing like this');
  await palette(page).getByText('No results').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  await focused(page.getByLabel('Prompt'));
  assert.equal(await page.getByLabel('Prompt').inputValue(), 'a lighthouse');
  assert.deepEqual(errors, []);
});

test('a task is reached by its id, and by the beginning of it', { skip }, async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const request = { model: 'videogen-2.0-fast', input: { prompt: '[[reject]] found by its id', duration: 4 } };
  const { json } = await service.create(key, request);
  const taskId = String(json.data['taskId']);
  const { page, open } = await visitor.signedIn({ [accountId]: 'viewer' });
  await open();
  await openPalette(page);
  await page.keyboard.type(` ${taskId} `);
  await page.keyboard.press('Enter');
  await page
    .getByRole('region', { name: 'Request' })
    .getByText('[[reject]] found by its id', { exact: true })
    .waitFor();
  await page.waitForURL(`**/tasks/${taskId}`);

  await openPalette(page);
  await page.keyboard.type(taskId.slice(0, 13));
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Tasks' }).getByRole('link').first().waitFor();
  await becomes('the search', () => page.getByRole('searchbox').inputValue(), taskId.slice(0, 13));
});

test('it offers nothing that the person may not see', { skip }, async () => {
  const [own, second] = [await service.newAccount(0), await service.newAccount(0)];
  const { page, open } = await visitor.signedIn({ [own.accountId]: 'viewer', [second.accountId]: 'viewer' });
  await open();
  await openPalette(page);
  // The pages of this account and the other account, but no page of operators.
  await becomes('the number of goals', () => goals(page).count(), 13);
  assert.equal(
    await palette(page)
      .getByRole('option', { name: /Operators/ })
      .count(),
    0,
  );
  const operator = await visitor.signedIn({}, { operator: true });
  await operator.open();
  await openPalette(operator.page);
  await operator.page.keyboard.type('audit');
  await operator.page.keyboard.press('Enter');
  await operator.page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();

  // An id may be that of a task or of an account; another text may begin the name of an account.
  await openPalette(operator.page);
  await operator.page.keyboard.type(own.accountId);
  await palette(operator.page)
    .getByRole('option', { name: `Account ${own.accountId}` })
    .click();
  await operator.page.waitForURL(`**/ops/accounts/${own.accountId}`);
  await openPalette(operator.page);
  await operator.page.keyboard.type('Northlight');
  await operator.page.keyboard.press('Enter');
  await operator.page.waitForURL('**/ops/accounts?search=Northlight');
});

/** The colours of the dark window are checked on the tokens by contrast.test.ts. */
const shown = runsWholeMatrix ? windows : { light: windows.light, narrow: windows.narrow };

for (const [window, options] of Object.entries(shown)) {
  test(`no finding of axe, nothing too wide: ${window}`, { skip }, async () => {
    const { accountId } = await service.newAccount(0);
    // Operators always have a result: a search for accounts.
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' }, options);
    await open();
    await openPalette(page);
    await assertAccessible(page, 'the palette');
    await assertNoSidewaysScroll(page, 'the palette');
    await page.keyboard.type('nothing like this');
    await palette(page).getByText('No results').waitFor();
    await assertAccessible(page, 'the palette without a result');
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to a page or a task').waitFor();
    await assertAccessible(page, 'the list of shortcuts');
    assert.deepEqual(errors, []);
  });
}
