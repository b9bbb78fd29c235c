import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { assertAccessible, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';

// A model whose price depends on its input, in the playground and on the operators' page.

const skip = skipWithoutBrowser();
const hourMs = 3_600_000;

const catalogue = {
  // The preview does not pass on every field. Nothing listens there, so the tasks wait.
  providers: { box: { kind: 'own', baseUrl: 'http://127.0.0.1:9' } },
  models: [
    {
      model: 'priced',
      title: 'Priced',
      providers: ['box'],
      prices: [
        { when: { resolution: '1080p', generateAudio: true }, creditsPerSecond: 20 },
        { when: { resolution: '1080p' }, creditsPerSecond: 15 },
        { when: { videoUrls: 'present' }, creditsPerSecond: 12, creditsPerVideo: 7 },
        { when: { options: { draft: true } }, creditsPerVideo: 9 },
        { creditsPerSecond: 10 },
      ],
      input: {
        resolution: { values: ['720p', '1080p'], default: '1080p' },
        duration: { min: 2, max: 12 },
        ratio: { values: ['16:9'] },
        generateAudio: {},
        videoUrls: { max: 1 },
        options: { draft: { type: 'boolean', default: false } },
      },
    },
  ],
};

let service: TestService;
let visitor: Visitor;
let folder: string;
before(async () => {
  if (skip !== false) return;
  folder = await mkdtemp(join(tmpdir(), 'videogen-models-'));
  const path = join(folder, 'models.json');
  await writeFile(path, JSON.stringify(catalogue));
  service = await startTestService({ VIDEOGEN_MODELS: path });
  visitor = await startVisitor(service);
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
  await rm(folder, { recursive: true });
});

async function newTab() {
  const { accountId } = await createTestAccount(service.database);
  const tab = await visitor.signedIn({ [accountId]: 'owner' }, { operator: true });
  return { ...tab, accountId };
}

const priced = (page: Page, credits: number) =>
  page.getByRole('button', { name: `Generate · ${credits} credits`, exact: true }).waitFor();

test('the price on the button is that of the input, and it is charged', { skip }, async () => {
  const { page, open, accountId } = await newTab();
  await open(`/a/${accountId}/playground`);
  await page.getByText('1080p with sound: 20 credits per second of video', { exact: true }).waitFor();
  await priced(page, 100);
  await page.getByRole('checkbox', { name: 'Sound' }).uncheck();
  await priced(page, 75);
  await page.getByRole('radio', { name: '720p' }).check({ force: true });
  await page.getByText('standard: 10 credits per second of video', { exact: true }).waitFor();
  await priced(page, 50);
  await page.getByRole('button', { name: 'By URL' }).click();
  await page.getByLabel('URL of a video').fill('https://example.com/clip.mp4');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page
    .getByText('with videoUrls: 12 credits per second of video + 7 credits per video', { exact: true })
    .waitFor();
  await priced(page, 67);
  await page.getByRole('checkbox', { name: 'Draft' }).check();
  await priced(page, 67);
  await page.getByRole('button', { name: 'Remove video 1' }).click();
  await page.getByText('draft on: 9 credits per video', { exact: true }).waitFor();
  await priced(page, 9);
  await page.getByLabel('Prompt').fill('a paper boat');
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.waitForURL((url) => url.searchParams.has('tasks'));
  const task = await findTask(service.database.db, new URL(page.url()).searchParams.get('tasks') ?? '');
  assert.equal(task?.creditsCharged, 9);
  await page.getByRole('link', { name: 'View task' }).click();
  await page.getByRole('definition').filter({ hasText: 'draft on' }).waitFor();
  await open(`/a/${accountId}/credits`);
  await page.getByRole('cell', { name: /draft on$/ }).waitFor();
});

test('an announced price is shown for the inputs that it is for', { skip }, async () => {
  const { page, open, accountId } = await newTab();
  const fromMs = Date.now() + hourMs;
  const decided = { model: 'priced', accountId, priceName: '1080p', creditsPerSecond: 30, fromMs };
  await insertBackdatedPrice(service.database.db, decided);
  await page.clock.install();
  await open(`/a/${accountId}/playground`);
  await priced(page, 100);
  assert.equal(await page.getByText(/^From /).count(), 0);
  await page.getByRole('checkbox', { name: 'Sound' }).uncheck();
  await page.getByText(/^From .*: 1080p: 30\scredits per second of video\./).waitFor();
  await priced(page, 75);
  await page.clock.fastForward(hourMs);
  await priced(page, 150);
});

test('operators see each price of a model with its condition, and set both of its amounts', { skip }, async () => {
  const { page, open, errors } = await newTab();
  await open('/ops/prices');
  const now = page.getByRole('table', { name: 'Current prices' });
  const row = (text: string) => now.getByRole('row').filter({ hasText: text });
  await row('1080p, with sound').getByRole('cell', { name: '20', exact: true }).waitFor();
  await row('with reference videos').getByRole('cell', { name: '7', exact: true }).waitFor();
  await row('every other video').getByRole('cell', { name: '10', exact: true }).waitFor();
  await assertAccessible(page, 'the prices of a model');
  await page.getByRole('button', { name: 'Set price of priced: with videoUrls' }).click();
  const dialog = page.getByRole('dialog', { name: 'Price of Priced: with videoUrls' });
  await dialog.getByText('12 credits per second of video + 7 credits per video').waitFor();
  await dialog.getByLabel('Credits/s').fill('0');
  await dialog.getByLabel('Credits/video').fill('1.5');
  await dialog.getByLabel('Reason').fill('The provider costs less.');
  await dialog.getByText('Later').click();
  await dialog.getByLabel('Time', { exact: true }).fill('2031-05-04T10:00');
  await dialog.getByRole('button', { name: 'Announce price' }).click();
  await dialog.locator('input:invalid').and(dialog.getByLabel('Credits/video')).and(page.locator(':focus')).waitFor();
  await dialog.getByLabel('Credits/video').fill('150');
  await dialog.getByText('For all accounts without a custom price: 150 credits per video.').waitFor();
  await assertAccessible(page, 'the dialog of a price');
  await dialog.getByRole('button', { name: 'Announce price' }).click();
  await row('with reference videos').getByText('150/video').waitFor();
  await row('with reference videos').getByText('from May 4, 2031').waitFor();
  const set = page.getByRole('table', { name: 'Prices set by operators' }).getByRole('row').nth(1);
  await set.getByText('with videoUrls').waitFor();
  await set.getByRole('cell', { name: '150/video', exact: true }).waitFor();
  await set.getByRole('button', { name: 'Withdraw' }).click();
  await page
    .getByRole('dialog')
    .getByText(/\(with videoUrls\), 150\scredits per video, won’t take effect on/)
    .waitFor();
  assert.deepEqual(errors, []);
});
