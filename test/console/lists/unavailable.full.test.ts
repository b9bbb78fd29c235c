import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { assertAccessible, becomes, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// Pages whose service fails or does not respond. The failures are played on the way to the page; outages.long.test.ts kills the API, and cuts
// off its database and its Temporal.

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

const unavailable = { code: 503, msg: 'the database is unavailable', error: 'database_unavailable', data: {} };
const requests = '**/api/**';

type Outage = { readonly start: (page: Page) => Promise<unknown>; readonly banner: string; readonly alert: string };

const outages: Readonly<Record<string, Outage>> = {
  'the service does not respond': {
    start: (page) => page.route(requests, (route) => route.abort('connectionreset')),
    banner: 'The service is not responding',
    alert: 'No connection',
  },
  'its database is unavailable': {
    start: (page) => page.route(requests, (route) => route.fulfill({ status: 503, json: unavailable })),
    banner: 'The service is recovering',
    alert: 'Its database is unavailable',
  },
};

/** The pauses of the page pass at once: those between polls, and those between the tries of a request. */
async function whilePolling(page: Page, what: string, isThere: () => Promise<boolean>): Promise<void> {
  await waitFor(what, async () => {
    await page.clock.fastForward(2_000);
    return (await isThere()) || undefined;
  });
}

async function openTask() {
  const { db } = service.database;
  const { accountId } = await service.newAccount(1_000);
  const taskId = await acceptTestTask(db, accountId, taskParam('a lighthouse'));
  await beginGenerationAttempt(db, taskId);
  const tab = await visitor.signedIn({ [accountId]: 'owner' });
  await tab.context.clock.install();
  const path = `/a/${accountId}/tasks/${taskId}`;
  await tab.open(path);
  return { ...tab, accountId, path };
}

for (const [name, { start, banner, alert }] of Object.entries(outages)) {
  test(`while ${name}, a page keeps what it shows, says so, and goes on by itself`, { skip }, async () => {
    const { page } = await openTask();
    await page.getByRole('heading', { name: 'Task Generating' }).waitFor();
    await page.evaluate('window.stays = true');
    await start(page);
    const shownBanner = page.getByRole('status').filter({ hasText: banner });
    await whilePolling(page, 'the banner', () => shownBanner.isVisible());
    await page.getByText('a lighthouse').first().waitFor();
    await assertAccessible(page, `a task while ${name}`);
    await page.unroute(requests);
    await whilePolling(page, 'the end of the banner', async () => (await shownBanner.count()) === 0);
    assert.equal(await page.evaluate('window.stays === true'), true);
  });

  test(`a page that is opened while ${name} says why it is empty, and fills itself afterwards`, { skip }, async () => {
    const { context, path } = await openTask();
    const page = await context.newPage();
    await start(page);
    await page.goto(`${service.url}/console${path}`);
    const message = page.getByRole('alert').filter({ hasText: alert });
    await whilePolling(page, 'the alert', () => message.isVisible());
    const shownBanner = page.getByRole('status').filter({ hasText: banner });
    assert.equal(await shownBanner.count(), 0, 'nothing is shown that could be out of date');
    await assertAccessible(page, `a page that is opened while ${name}`);
    // Requests without a response, before the route that fails them; the end of both sends them on.
    let tries = 0;
    await page.route(requests, () => void (tries += 1));
    await whilePolling(page, 'another try', () => Promise.resolve(tries > 0));
    assert.equal(await message.count(), 1, 'the message stays while the page tries again');
    await page.unroute(requests);
    const heading = page.getByRole('heading', { name: 'Task Generating' });
    await whilePolling(page, 'the task', () => heading.isVisible());
  });
}

/** Whether the first failure of the page has the alert, and the numbers of alerts and of buttons. */
const failures = `(() => {
  const alerts = document.querySelectorAll('main [role="alert"]');
  const buttons = [...document.querySelectorAll('main button')].filter(({ textContent }) => textContent === 'Try again');
  return [document.querySelector('.failure').contains(alerts[0]), alerts.length, buttons.length];
})()`;

async function showsOneFailure(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  const message = page.getByRole('alert').filter({ hasText: 'Its database is unavailable' });
  await whilePolling(page, 'the alert', async () => (await message.count()) > 0);
  const waiting = page.locator('.skeleton, main [aria-busy="true"]');
  await whilePolling(page, 'the whole page', async () => (await waiting.count()) === 0);
  await becomes(`the failures of ${name}`, () => page.evaluate(failures), [true, 1, 1]);
}

test('one failure of a whole operators’ page is said once, above all that failed alike', { skip }, async () => {
  const { page, context, open } = await visitor.signedIn({}, { operator: true });
  await context.clock.install();
  await open('/ops/profile');
  await page.route(requests, (route) => route.fulfill({ status: 503, json: unavailable }));
  for (const name of ['Overview', 'Prices', 'Payments']) await showsOneFailure(page, name);
});

test('one failure of a whole page is said once, with one way to try again', { skip }, async () => {
  const { page } = await openTask();
  await page.route(requests, (route) => route.fulfill({ status: 503, json: unavailable }));
  for (const name of ['Credits', 'Members']) await showsOneFailure(page, name);
  // The page also tries by itself, and the button goes with the failure.
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.unroute(requests);
  const table = page.getByRole('table', { name: 'Members' });
  await whilePolling(page, 'the members', () => table.isVisible());
});
