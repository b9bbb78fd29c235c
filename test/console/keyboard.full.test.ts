import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { skipWithoutBrowser } from '../support/browser.ts';
import { startVisitor, type Visitor } from '../support/console.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  visitor = await startVisitor(service);
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

/** More than any page has. */
const maxSteps = 120;

/** Goes on with the tabulator until the control has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < maxSteps; step += 1) {
    if ((await target.and(page.locator(':focus')).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${String(target)}`);
}

test('a key, a video and its ledger line with the keyboard alone; dialogs give the focus back', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page } = await visitor.signedIn({ [accountId]: 'owner' });

  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Tab');
  await tabTo(page, page.getByRole('link', { name: 'Skip to the content' }));
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('main:focus').count(), 1);

  await page.keyboard.press('g');
  await page.keyboard.press('k');
  const newKey = page.getByRole('button', { name: 'New key' });
  await tabTo(page, newKey);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'New API key' }).waitFor();
  await page.keyboard.type('by keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /by keyboard/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: /^by keyboard/ }).waitFor();
  await tabTo(page, newKey);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'New API key' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await newKey.and(page.locator(':focus')).count(), 1);

  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await tabTo(page, page.getByLabel('Prompt'));
  await page.keyboard.type('a lighthouse, gk?');
  assert.equal(await page.getByLabel('Prompt').inputValue(), 'a lighthouse, gk?');
  await page.keyboard.press('Control+Enter');
  const details = page.getByRole('link', { name: 'Timeline, ledger and details of this task' });
  await page.getByLabel('The generated video').waitFor({ timeout: 180_000 });
  await tabTo(page, details);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Ledger' }).getByRole('cell', { name: '\u2212165' }).waitFor();

  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.getByRole('heading', { name: 'Tasks' }).waitFor();
  await page.keyboard.press('/');
  assert.equal(await page.locator('input[type="search"]:focus').count(), 1);
});
