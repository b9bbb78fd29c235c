import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { assertNoSidewaysScroll, startVisitor, type Visitor, windows } from '../../support/console/console-visitor.ts';
import { insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';

// Prices, sums and times of pages that are open for long. The clock of the page is put forward; the service has the true one.

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

const model = 'videogen-2.0-fast';
const hourMs = 3_600_000;

async function newAccount() {
  const { accountId } = await service.newAccount(10_000);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await page.clock.install();
  return { accountId, page, open: (path: string) => open(`/a/${accountId}${path}`) };
}

/** What is read every fifteen seconds is read once more. */
const pollsOnce = (page: Page) => page.clock.fastForward(16_000);

test('an announced price is shown from the instant at which it is charged', { skip }, async () => {
  const { accountId, page, open } = await newAccount();
  const fromMs = Date.now() + hourMs;
  await insertBackdatedPrice(service.database.db, { model, accountId, creditsPerSecond: 50, fromMs });
  await open('/playground');
  await page.getByText(/^From .*: 50\scredits per second/).waitFor();
  await page.getByRole('button', { name: 'Generate · 165 credits' }).waitFor();
  await page.clock.fastForward(hourMs);
  await page.getByRole('button', { name: 'Generate · 250 credits' }).waitFor();
  await page.getByText('50 credits per second of video').waitFor();
  assert.equal(await page.getByText(/^From /).count(), 0);
});

test('a price that is set while the playground is open is shown there', { skip }, async () => {
  const { accountId, page, open } = await newAccount();
  await open('/playground');
  await page.getByRole('button', { name: 'Generate · 165 credits' }).waitFor();
  await page.getByLabel('Prompt').fill('a lighthouse');
  await insertBackdatedPrice(service.database.db, { model, accountId, creditsPerSecond: 40, fromMs: Date.now() - 1 });
  await pollsOnce(page);
  await page.getByRole('button', { name: 'Generate · 200 credits' }).waitFor();
  assert.equal(await page.getByLabel('Prompt').inputValue(), 'a lighthouse');
});

test('the sums and the chart of the credits follow the ledger', { skip }, async () => {
  await awayFromMidnight();
  const { accountId, page, open } = await newAccount();
  const { db } = service.database;
  await acceptTestTask(db, accountId, taskParam('the first one'));
  await open('/credits');
  await page.getByText('Figures', { exact: true }).click();
  const figures = page.getByRole('table', { name: 'Charged by day and model' });
  await figures.getByRole('cell', { name: '132' }).waitFor();
  await acceptTestTask(db, accountId, taskParam('another one'));
  // The sums are read once a minute.
  await page.clock.fastForward(61_000);
  await page.locator('.tile').filter({ hasText: 'Charged' }).getByText('264').waitFor();
  await figures.getByRole('cell', { name: '264' }).waitFor();
});

test('the table of the figures scrolls within its box on a narrow screen', { skip }, async () => {
  const { accountId, page, open } = await newAccount();
  for (const one of [model, 'videogen-2.0', 'videogen-2.0-with-a-long-name'])
    await acceptTestTask(service.database.db, accountId, { ...taskParam('a film'), model: one });
  await page.setViewportSize(windows.narrow.viewport);
  await open('/credits');
  await page.getByText('Figures', { exact: true }).click();
  const figures = page.getByRole('table', { name: 'Charged by day and model' });
  await figures.getByRole('columnheader').nth(3).waitFor();
  await assertNoSidewaysScroll(page, 'figures');
});

test('the chart of the credits shows four of six models, and one color for all others', { skip }, async () => {
  await awayFromMidnight();
  const { accountId, page, open } = await newAccount();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await acceptTestTask(service.database.db, accountId, { ...taskParam('a film'), model: `model-${name}` });
  }
  await open('/credits');
  await page.getByText('Figures', { exact: true }).click();
  const figures = page.getByRole('table', { name: 'Charged by day and model' });
  await figures.getByRole('columnheader', { name: 'All others' }).waitFor();
  assert.equal(await figures.getByRole('columnheader', { name: /^model-/ }).count(), 4);
  await figures.getByRole('cell', { name: '264' }).waitFor();
});

test('days before and after now are counted, and ends are told as such', { skip }, async () => {
  const { accountId, page, open } = await newAccount();
  const { db } = service.database;
  const text = `update api_keys set created_at = now() - interval '47 hours', expires_at = now() + interval '47 hours'
where account_id = $1`;
  await db.run({ name: 'test-age-keys', text }, [accountId]);
  await open('/keys');
  const row = page.getByRole('table', { name: 'API keys' }).getByRole('row', { name: /^test/ });
  await row.getByText('expires in 1d').waitFor();
  await row.getByText('1d ago').waitFor();

  const taskId = await acceptTestTask(db, accountId, taskParam('a film'));
  const keys = { videoKey: `results/${taskId}/video.mp4`, posterKey: `results/${taskId}/poster.jpg` };
  await completeTask(db, taskId, { ...madeUpMeasures, ...keys });
  await open(`/tasks/${taskId}`);
  const facts = page.getByRole('region', { name: 'Details' }).locator('dl > div');
  const kept = facts.filter({ hasText: 'Available until' }).getByRole('definition');
  await kept.getByText(/^\w{3} \d+, \d{4}, \d\d:\d\d:\d\d \S+$/).waitFor();
});

test('the first request of a new account asks for a model that the service has', { skip }, async () => {
  const { page, open } = await newAccount();
  const [first] = service.deps.catalogue().models.keys();
  const sample = page.getByRole('region', { name: /^(?:curl|Try it) text$/ }).filter({ hasText: `"model":"${first}"` });
  await open('');
  await sample.waitFor();
  await open('/keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('web shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await sample.waitFor();
});
