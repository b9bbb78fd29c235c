import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { becomes, focused, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

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

/** Presses `g` and a letter. The page takes them together within 1.2 s, so a busy machine may need several tries. */
async function go(page: Page, letter: string, path: string): Promise<void> {
  await waitFor(`the page ${path}`, async () => {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    return (await page.evaluate<string>('location.pathname')).endsWith(path) || undefined;
  });
}

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
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });

  await open();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Tab');
  await tabTo(page, page.getByRole('link', { name: 'Skip to the content' }));
  await page.keyboard.press('Enter');
  await page.locator('main:focus').waitFor();

  await go(page, 'k', '/keys');
  const newKey = page.getByRole('button', { name: 'Create key' });
  await tabTo(page, newKey);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create an API key' }).waitFor();
  await page.keyboard.type('by keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /by keyboard/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: /^by keyboard/ }).waitFor();
  await tabTo(page, newKey);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create an API key' }).waitFor();
  // A click beside the fields leaves the focus to the page below, which stays.
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.keyboard.press('Escape');
  await focused(newKey);

  await go(page, 'p', '/playground');
  await tabTo(page, page.getByLabel('Prompt'));
  const prompt = 'a lighthouse, gk? [[instant]]';
  await page.keyboard.type(prompt);
  await becomes('the prompt', () => page.getByLabel('Prompt').inputValue(), prompt);
  await page.keyboard.press('Control+Enter');
  const details = page.getByRole('link', { name: 'View task' });
  await page.getByLabel('The generated video').waitFor();
  await tabTo(page, details);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Ledger' }).getByRole('cell', { name: '\u2212165' }).waitFor();

  await go(page, 't', '/tasks');
  await page.getByRole('heading', { name: 'Tasks' }).waitFor();
  await page.keyboard.press('/');
  await page.locator('input[type="search"]:focus').waitFor();
});
