import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { BrowserContextOptions } from 'playwright-core';
import { createAccount } from '../../../src/credits/open-account.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { becomes, settled, show, startVisitor, type Visitor, windows } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// Pages that are open for long: visible rows keep their places, and hidden pages read nothing. The engine is played: no task goes on by itself.

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

const failure = { failCode: 'timeout', failMsg: 'It took too long.' } as const;

/** Somebody who sees an account with one task that failed and, after it, two that wait. */
async function stage(options: BrowserContextOptions = {}) {
  const { db } = service.database;
  const accountId = await createAccount(db, { name: 'Northlight Studio', credits: 100_000 });
  await failAndRefund(db, await acceptTestTask(db, accountId, taskParam('the failed one')), failure);
  await acceptTestTask(db, accountId, taskParam('film 1'));
  const taskId = await acceptTestTask(db, accountId, taskParam('film 2'));
  const tab = await visitor.signedIn({ [accountId]: 'owner' }, { ...options, operator: true });
  return { accountId, taskId, ...tab };
}

const lists = {
  'of an account': (id: string) => `/a/${id}/tasks`,
  'of operators': (id: string) => `/ops/tasks?account=${id}`,
};

for (const [whose, path] of Object.entries(lists)) {
  test(`the tasks ${whose}: another filter shows all its rows, none of them as new`, { skip }, async () => {
    const { page, accountId } = await stage();
    const at = `${service.url}/console${path(accountId)}`;
    await page.goto(`${at}${at.includes('?') ? '&' : '?'}state=failed`);
    await page.getByRole('link', { name: 'the failed one' }).waitFor();
    await page.getByRole('link', { name: /^All/ }).click();
    await page.getByRole('link', { name: 'film 1' }).waitFor();
    await page.getByRole('link', { name: 'film 2' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /new task/ }).count(), 0);
  });

  test(
    `the tasks ${whose} of the last hour: as time goes on, what is new waits behind a button`,
    { skip },
    async () => {
      const { page, accountId } = await stage();
      await page.clock.install({ time: Date.now() });
      const at = `${service.url}/console${path(accountId)}`;
      await page.goto(`${at}${at.includes('?') ? '&since=1h' : '?since=1h'}`);
      await page.getByRole('link', { name: 'film 2' }).waitFor();
      await acceptTestTask(service.database.db, accountId, taskParam('film 3'));
      await page.clock.runFor(61_000);
      await page.getByRole('button', { name: '1 new task' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'film 3' }).count(), 0);
    },
  );
}

type Watched = { readonly path: (accountId: string, taskId: string) => string; readonly reads: string };

const watched: Readonly<Record<string, Watched>> = {
  'a task': { path: (accountId, taskId) => `/a/${accountId}/tasks/${taskId}`, reads: '/api/v1/jobs/timeline' },
  'the list of tasks': { path: (accountId) => `/a/${accountId}/tasks`, reads: '/api/v1/jobs/listTasks' },
  'the overview of operators': { path: () => '/ops', reads: '/api/admin/v1/overview' },
};

for (const [name, { path, reads }] of Object.entries(watched)) {
  test(`${name} is not read while the page is hidden, and is read when it is seen again`, { skip }, async () => {
    const { page, accountId, taskId, open } = await stage();
    await page.clock.install({ time: Date.now() });
    await open(path(accountId, taskId));
    let count = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === reads) count += 1;
    });
    await waitFor('a reading', async () => {
      await page.clock.runFor(15_000);
      return count > 0 || undefined;
    });
    await show(page, 'hidden');
    // Requests that were sent before may still be reported.
    await page.clock.runFor(15_000);
    const earlier = count;
    await page.clock.runFor(120_000);
    assert.equal(count, earlier);
    const next = page.waitForRequest((request) => new URL(request.url()).pathname === reads);
    await show(page, 'visible');
    await next;
  });
}

for (const [window, options] of Object.entries({ wide: windows.light, narrow: windows.narrow })) {
  test(`new tasks wait behind a button, and no row moves: ${window}`, { skip }, async () => {
    const { page, accountId, open } = await stage(options);
    await page.clock.install({ time: Date.now() });
    await open(`/a/${accountId}/tasks`);
    const rows = page.getByRole('table', { name: 'Tasks' }).locator('tbody tr');
    const first = await rows.first().boundingBox();
    const [text, number] = [await rows.first().getByRole('link').innerText(), await rows.count()];
    for (const n of [1, 2]) await acceptTestTask(service.database.db, accountId, taskParam(`fresh ${n}`));
    const more = page.getByRole('button', { name: '2 new tasks' });
    await page.clock.fastForward(16_000);
    await more.waitFor();
    assert.deepEqual(await rows.first().boundingBox(), first);
    assert.equal(await rows.first().getByRole('link').innerText(), text);
    assert.equal(await rows.count(), number);
    await more.click();
    await rows.first().getByRole('link', { name: 'fresh 2' }).waitFor();
    await more.waitFor({ state: 'detached' });
    await page.locator('.list:focus').waitFor();
    assert.deepEqual(await rows.first().boundingBox(), first);
  });
}

test('rows stay when as many tasks as a page holds are new, and the button shows a minimum', { skip }, async () => {
  const { page, accountId, open } = await stage();
  const { db } = service.database;
  const add = async (name: string, count: number) => {
    for (let n = 0; n < count; n += 1) await acceptTestTask(db, accountId, taskParam(`${name} ${n}`));
  };
  await add('first', 30);
  await page.clock.install({ time: Date.now() });
  await open(`/a/${accountId}/tasks`);
  const names = page.getByRole('table', { name: 'Tasks' }).locator('.row-link');
  const shown = await names.allInnerTexts();
  assert.equal(shown.length, 30, 'the page is full');
  const news = (name: string) => page.getByRole('button', { name });
  const steps = [
    { name: 'second', count: 2, button: news('2 new tasks') },
    { name: 'third', count: 30, button: news('30+ new tasks') },
  ];
  for (const { name, count, button } of steps) {
    await add(name, count);
    await waitFor(`the tasks ${name}`, async () => {
      await page.clock.fastForward(4_000);
      return (await button.isVisible()) ? true : undefined;
    });
    assert.deepEqual(await names.allInnerTexts(), shown);
  }
  await news('30+ new tasks').click();
  await page.getByRole('link', { name: 'third 29' }).waitFor();
  await news('new tasks').waitFor({ state: 'detached' });
});

test('an id that is half typed stays while the list is read again', { skip }, async () => {
  const { page, accountId, open } = await stage();
  await page.clock.install();
  await open(`/a/${accountId}/tasks`);
  const search = page.getByRole('searchbox');
  // An id begins with its time, so this is a part of the id of every task of these weeks.
  const part = Date.now().toString(16).padStart(12, '0').slice(0, 4);
  // A task that is created before this read is in its response, and so is never announced as new.
  const read = page.waitForResponse(
    (response) => response.url().includes('/listTasks') && new URL(response.url()).searchParams.get('search') === part,
  );
  await search.pressSequentially(part);
  await (await read).finished();
  await settled(page);
  for (const n of [1, 2]) {
    await acceptTestTask(service.database.db, accountId, taskParam(`another ${n}`));
    const news = page.getByRole('button', { name: new RegExp(`^${n} new task`) });
    // A list with live tasks is read 3 s after the previous read, which may still be under way.
    await waitFor('the new task', async () => {
      await page.clock.fastForward(4_000);
      return (await news.isVisible()) ? true : undefined;
    });
  }
  await becomes('the search', () => search.inputValue(), part);
});
