import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createAccount } from '../../src/stores/accounts.ts';
import { refundTask } from '../../src/stores/tasks.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import { settled, startVisitor, type Visitor } from '../support/console.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';

// Rows that somebody looks at stay where they are. The engine is played: no task goes on by itself.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  visitor = await startVisitor({ baseUrl: service.url, database: service.database });
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

const failure = { failCode: 'content_rejected', failMsg: 'The model refused the prompt.' } as const;

/** Somebody who sees an account with one task that failed and, after it, two that wait. */
async function stage() {
  const { db } = service.database;
  const accountId = await createAccount(db, { name: 'Northlight Studio', credits: 100_000 });
  await refundTask(db, await acceptTestTask(db, accountId, taskParam('the failed one')), failure);
  for (const n of [1, 2]) await acceptTestTask(db, accountId, taskParam(`film ${n}`));
  return { accountId, ...(await visitor.signedIn({ [accountId]: 'owner' }, { operator: true })) };
}

const lists = {
  'of an account': {
    path: (id: string) => `/a/${id}/tasks`,
    all: (page: Page) => page.getByRole('link', { name: 'All', exact: true }).click(),
  },
  'of operators': {
    path: (id: string) => `/ops/tasks?account=${id}`,
    all: (page: Page) => page.getByRole('combobox', { name: 'State' }).selectOption(''),
  },
};

for (const [whose, { path, all }] of Object.entries(lists)) {
  test(`the tasks ${whose}: another filter shows all its rows, none of them as new`, { skip }, async () => {
    const { page, accountId } = await stage();
    const at = `${service.url}/console${path(accountId)}`;
    await page.goto(`${at}${at.includes('?') ? '&' : '?'}state=fail`);
    await page.getByRole('link', { name: 'the failed one' }).waitFor();
    await all(page);
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
      await page.goto(`${at}${at.includes('?') ? '&hours=1' : '?since=1h'}`);
      await page.getByRole('link', { name: 'film 2' }).waitFor();
      await acceptTestTask(service.database.db, accountId, taskParam('film 3'));
      await page.clock.runFor(61_000);
      await page.getByRole('button', { name: '1 new task' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'film 3' }).count(), 0);
    },
  );
}

test('a list that is paused asks for nothing, however long it is open', { skip }, async () => {
  const { page, accountId } = await stage();
  await page.clock.install({ time: Date.now() });
  await page.goto(`${service.url}/console/a/${accountId}/tasks?since=1h`);
  await page.getByRole('link', { name: 'film 2' }).waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Go on' }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.clock.runFor(200_000);
  assert.deepEqual(
    asked.filter((one) => one.endsWith('/listTasks')),
    [],
  );
  assert.ok(asked.includes('/api/v1/credits'), 'the rest of the page goes on');
});

test('an id that is half typed stays while the list is read again', { skip }, async () => {
  const { page, accountId } = await stage();
  await page.goto(`${service.url}/console/a/${accountId}/tasks`);
  await settled(page);
  const search = page.getByRole('searchbox');
  // A part of the id of every task of these years.
  await search.pressSequentially('01');
  await page.waitForURL((url) => url.searchParams.get('search') === '01');
  await settled(page);
  for (const n of [1, 2]) {
    await acceptTestTask(service.database.db, accountId, taskParam(`another ${n}`));
    await page.getByRole('button', { name: new RegExp(`^${n} new task`) }).waitFor();
  }
  assert.equal(await search.inputValue(), '01');
});
