import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// The positions in long lists: on the way back, on other pages, and behind a video. The engine is played: no task ends on its own.

const skip = skipWithoutBrowser();

/** One page of the gallery holds one video less, one page of tasks far fewer. */
const taskCount = 49;

let service: HttpService;
let visitor: Visitor;
let accountId: string;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService({ consoleMediaOrigins: ['http://media.test'] });
  const { db } = service.database;
  ({ accountId } = await service.newAccount(100_000));
  for (let number = 0; number < taskCount; number += 1) {
    const taskId = await acceptTestTask(db, accountId, taskParam(`film ${number} of the sea`));
    const keys = { videoKey: `results/${taskId}/video.mp4`, posterKey: `results/${taskId}/poster.jpg` };
    await completeTask(db, taskId, { ...madeUpMeasures, ...keys });
  }
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

const position = (page: Page) => page.evaluate<number>('Math.round(scrollY)');

/** The page of this title is announced after its position is decided. */
const isAnnounced = (page: Page, title: RegExp) => page.getByRole('status').filter({ hasText: title }).waitFor();

test('a link leads to the top of a page, and the way back to the position in the list', { skip }, async () => {
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/tasks`);
  const last = page.getByRole('table', { name: 'Tasks' }).getByRole('link', { name: /^film/ }).last();
  await last.scrollIntoViewIfNeeded();
  const scrolled = await position(page);
  assert.ok(scrolled > 0, 'the list is higher than the window');
  await last.click();
  await isAnnounced(page, /^Task /);
  assert.equal(await position(page), 0);
  await page.goBack();
  await isAnnounced(page, /^Tasks /);
  assert.ok((await position(page)) > scrolled / 2, 'the list is where it was');
});

test('older rows are shown from the first one', { skip }, async () => {
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' }, { viewport: { width: 1280, height: 400 } });
  await open(`/a/${accountId}/tasks`);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByRole('link', { name: 'film 0 of the sea' }).waitFor({ state: 'attached' });
  const top = () => page.evaluate<number>('document.querySelector(".list").getBoundingClientRect().top');
  await waitFor('the first row in sight', async () => ((await top()) >= 0 ? true : undefined));
});

test('a video that is opened and closed on an older page leaves the way to the newer page', { skip }, async () => {
  const { page, context, open } = await visitor.signedIn({ [accountId]: 'viewer' });
  await context.route('http://media.test/**', (route) => route.fulfill({ status: 404 }));
  await open(`/a/${accountId}/gallery`);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByRole('button', { name: /^Open: film 0 of the sea/ }).click();
  const viewer = page.getByRole('dialog', { name: 'Video', exact: true });
  await viewer.waitFor();
  await page.keyboard.press('Escape');
  await viewer.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Newer', exact: true }).click();
  await page.waitForURL((url) => url.search === '');
  await page.getByRole('button', { name: new RegExp(`^Open: film ${taskCount - 1} of the sea`) }).waitFor();
});
