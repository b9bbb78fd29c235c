import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTask } from '../support/api.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import { assertAccessible, assertNoSidewaysScroll, startVisitor, type Visitor } from '../support/console.ts';
import { windows } from '../support/console-pages.ts';
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

const palette = (page: Page) => page.getByRole('dialog', { name: 'Go to' });
const goals = (page: Page) => palette(page).getByRole('option');

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
}

test('a page is reached with a few letters and Enter, and the arrow keys go around', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
  await openPalette(page);
  assert.equal(await goals(page).count(), 8);
  await page.keyboard.type('cred');
  assert.equal(await goals(page).count(), 1);
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
  await palette(page).getByText('Nothing has this name').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Prompt').and(page.locator(':focus')).count(), 1);
  assert.equal(await page.getByLabel('Prompt').inputValue(), 'a lighthouse');
  assert.deepEqual(errors, []);
});

test('a task is reached by its id, and by the beginning of it', { skip }, async () => {
  const { accountId, key } = await createTestAccount(service.database, 1_000);
  const request = { model: 'videogen-2.0-fast', input: { prompt: '[[reject]] found by its id', duration: 4 } };
  const { body } = await createTask({ ...service, key }, request);
  const taskId = String(body.data['taskId']);
  const { page } = await visitor.signedIn({ [accountId]: 'viewer' });
  await openPalette(page);
  await page.keyboard.type(` ${taskId} `);
  await page.keyboard.press('Enter');
  await page
    .getByRole('region', { name: 'Request' })
    .getByText('[[reject]] found by its id', { exact: true })
    .waitFor();
  assert.ok(page.url().endsWith(`/tasks/${taskId}`));

  await openPalette(page);
  await page.keyboard.type(taskId.slice(0, 13));
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Tasks' }).getByRole('link').first().waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), taskId.slice(0, 13));
});

test('it offers nothing that the person may not see', { skip }, async () => {
  const [own, second] = [await createTestAccount(service.database), await createTestAccount(service.database)];
  const { page } = await visitor.signedIn({ [own.accountId]: 'viewer', [second.accountId]: 'viewer' });
  await openPalette(page);
  // The pages of this account and the other account, but no page of operators.
  assert.equal(await goals(page).count(), 9);
  assert.equal(
    await palette(page)
      .getByRole('option', { name: /Operators/ })
      .count(),
    0,
  );
  const operator = await visitor.signedIn({}, { operator: true });
  await openPalette(operator.page);
  await operator.page.keyboard.type('audit');
  await operator.page.keyboard.press('Enter');
  await operator.page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
});

for (const [window, options] of Object.entries(windows)) {
  test(`no finding of axe, nothing too wide: ${window}`, { skip }, async () => {
    const { accountId } = await createTestAccount(service.database);
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' }, { ...options, operator: true });
    await openPalette(page);
    await assertAccessible(page, 'the palette');
    await assertNoSidewaysScroll(page, 'the palette');
    await page.keyboard.type('nothing like this');
    await assertAccessible(page, 'the palette without a result');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to a page or a task').waitFor();
    await assertAccessible(page, 'the list of shortcuts');
    assert.deepEqual(errors, []);
  });
}
