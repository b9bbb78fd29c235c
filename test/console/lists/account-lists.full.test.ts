import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  closeDialog,
  focused,
  settled,
  startVisitor,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

// Keys, tasks and credits of an account, as a person changes and filters them. The engine is played: no task goes on by itself.

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

const statusOf = async (key: string) =>
  (await service.send('GET', '/api/v1/credits', { headers: { authorization: `Bearer ${key}` } })).status;

/** The secret that the dialog shows, which is then closed. */
async function takeKey(page: Page): Promise<string> {
  const key = await page.getByRole('dialog').locator('.secret code').innerText();
  await closeDialog(page, 'Done');
  return key;
}

test(
  'a key may what was chosen until its expiry; it is rotated with or without an overlap, and revoked',
  { skip },
  async () => {
    const { accountId } = await service.newAccount(1_000);
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
    await page.goto(`${service.url}/console/a/${accountId}/keys`);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name').fill('reporting');
    await page.getByRole('checkbox', { name: 'Create and cancel tasks' }).uncheck();
    await page.getByLabel('Expires').selectOption('30');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const first = await takeKey(page);
    assert.equal(await statusOf(first), 200);
    assert.equal((await service.create(first, plainRequest)).json.error, 'scope_missing');
    const row = page.getByRole('row', { name: /^reporting/ });
    await row.getByText('Read only').waitFor();
    const [until] = await row.locator('time').all();
    const days = (Date.parse((await until?.getAttribute('datetime')) ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days < 30.1, `${days} days`);

    const rowOf = (key: string) => page.getByRole('row').filter({ hasText: key.slice(-4) });
    const rotate = async (key: string, overlap: string) => {
      await rowOf(key).getByRole('button', { name: 'Rotate reporting' }).click();
      await page.getByLabel('Keep the old key valid for').selectOption(overlap);
      await page.getByRole('button', { name: 'Create new key' }).click();
      return takeKey(page);
    };
    const second = await rotate(first, '3600');
    assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 200]);
    for (const key of [first, second]) assert.ok(!(await page.content()).includes(key));
    const third = await rotate(second, '0');
    assert.deepEqual([await statusOf(second), await statusOf(third)], [401, 200]);

    await rowOf(third).getByRole('button', { name: 'Revoke reporting' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('reporting was revoked').waitFor();
    assert.equal(await statusOf(third), 401);
    assert.deepEqual(errors, []);
  },
);

test(
  'filters of tasks stand in the address: they survive a reload, another tab of the list and the way back',
  { skip },
  async () => {
    const { accountId } = await service.newAccount(10_000);
    const { db } = service.database;
    const failed = await acceptTestTask(db, accountId, taskParam('the failed one'));
    await failAndRefund(db, failed, { failCode: 'timeout', failMsg: 'no' });
    const cancelled = await acceptTestTask(db, accountId, taskParam('the cancelled one'));
    await failAndRefund(db, cancelled, { failCode: 'cancelled', failMsg: 'no' });
    await acceptTestTask(db, accountId, taskParam('the waiting one'));
    const { page, errors } = await visitor.signedIn({ [accountId]: 'viewer' });
    await page.goto(`${service.url}/console/a/${accountId}/tasks`);
    const rows = page.getByRole('table', { name: 'Tasks' }).locator('tbody tr');
    await page.getByRole('combobox', { name: 'Created', exact: true }).selectOption('1d');
    await page.getByRole('combobox', { name: 'Model' }).selectOption('videogen-2.0-fast');
    await page.getByRole('link', { name: /^Cancelled/ }).click();
    await page.getByRole('link', { name: 'the cancelled one' }).waitFor();
    await becomes('the number of cancelled tasks', () => rows.count(), 1);
    await page.getByRole('link', { name: /^Failed/ }).click();
    await page.getByRole('link', { name: 'the failed one' }).waitFor();
    await becomes('the number of failed tasks', () => rows.count(), 1);
    await page.getByRole('combobox', { name: 'Failure' }).selectOption('timeout');
    const check = async () => {
      await page.getByRole('link', { name: 'the failed one' }).waitFor();
      await page.getByRole('link', { name: 'the waiting one' }).waitFor({ state: 'detached' });
      await becomes('the number of rows', () => rows.count(), 1);
      await rows.getByText('Failed', { exact: true }).waitFor();
      const chosen = () =>
        Promise.all(
          ['Created', 'Model', 'Failure'].map((name) => page.getByRole('combobox', { name, exact: true }).inputValue()),
        );
      await becomes('the filters', chosen, ['1d', 'videogen-2.0-fast', 'timeout']);
    };
    await check();
    await page.reload();
    await check();
    await page.getByRole('link', { name: 'the failed one' }).click();
    await page.getByRole('heading', { name: 'Task Failed' }).waitFor();
    await page.goBack();
    await check();
    await page.getByRole('link', { name: /^Waiting/ }).click();
    await page.getByRole('link', { name: 'the waiting one' }).waitFor();
    await becomes('the filter', () => page.getByRole('combobox', { name: 'Created', exact: true }).inputValue(), '1d');
    await page.getByRole('searchbox').fill('ffffffff');
    await page.getByRole('searchbox').press('Enter');
    await page.getByText('No tasks match these filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await focused(page.getByRole('link', { name: /^All/ }));
    await page.getByRole('link', { name: 'the failed one' }).waitFor();
    assert.deepEqual(errors, []);
  },
);

test(
  'tasks are counted by state, and filtered by who created them and by days; the file has the tasks of the list',
  { skip },
  async () => {
    const { accountId, key } = await service.newAccount(10_000);
    const { db } = service.database;
    const byKey = String((await service.create(key, plainRequest)).json.data['taskId']);
    for (let n = 0; n < 2; n += 1) await acceptTestTask(db, accountId, taskParam(`by hand ${n}`));
    const old = await acceptTestTask(db, accountId, taskParam('long ago'));
    await db.run({ name: 'test-age', text: `update tasks set created_at = '2026-01-15' where id = $1` }, [old]);
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
    await page.goto(`${service.url}/console/a/${accountId}/tasks`);
    await page.getByRole('link', { name: 'Waiting 4' }).waitFor();
    await page.getByRole('link', { name: 'All 4' }).waitFor();
    const rows = page.getByRole('table', { name: 'Tasks' }).locator('tbody tr');
    await page.getByRole('combobox', { name: 'Created by' }).selectOption({ label: 'Key test' });
    await page.getByRole('link', { name: 'Waiting 1' }).waitFor();
    await becomes('the tasks of the key', () => rows.count(), 1);
    await page.reload();
    const address = page.url();
    await becomes('the tasks of the key', () => rows.count(), 1);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = (await text(await file.createReadStream())).trim().split(/\r?\n/);
    assert.deepEqual(
      lines.map((line) => line.split(',')[0]),
      ['taskId', byKey],
    );
    await page.getByRole('button', { name: 'Clear' }).click();
    await becomes('all tasks', () => rows.count(), 4);
    await rows.getByRole('link', { name: 'test', exact: true }).click();
    await becomes('the address', async () => page.url(), address);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('combobox', { name: 'Created', exact: true }).selectOption('range');
    await page.getByLabel('Created from').fill('2026-01-10');
    await page.getByLabel('Created to').fill('2026-01-15');
    await page.getByRole('link', { name: 'All 1' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'long ago' }).waitFor();
    await becomes('the tasks of these days', () => rows.count(), 1);
    assert.deepEqual(errors, []);
  },
);

test(
  'selected tasks are cancelled together, also with the keyboard, and the result says which had ended',
  { skip },
  async () => {
    const { accountId } = await service.newAccount(10_000);
    const { db } = service.database;
    const [first] = [await acceptTestTask(db, accountId, taskParam('film 0'))];
    for (let n = 1; n < 3; n += 1) await acceptTestTask(db, accountId, taskParam(`film ${n}`));
    const done = await acceptTestTask(db, accountId, taskParam('over'));
    await failAndRefund(db, done, { failCode: 'timeout', failMsg: 'no' });
    const { page, errors } = await visitor.signedIn({ [accountId]: 'member' });
    await page.goto(`${service.url}/console/a/${accountId}/tasks`);
    const all = page.getByRole('checkbox', { name: 'Select all on this page' });
    await page.getByRole('checkbox', { name: 'Select film 0' }).waitFor();
    assert.equal(await page.getByRole('checkbox', { name: 'Select over' }).count(), 0);
    await all.focus();
    await page.keyboard.press('Space');
    const bar = page.getByRole('region', { name: 'Selection' });
    await bar.getByText('3 selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select film 2' }).uncheck();
    await bar.getByText('2 selected').waitFor();
    await assertAccessible(page, 'selected tasks');
    await page.setViewportSize({ width: 390, height: 800 });
    await assertNoSidewaysScroll(page, 'selected tasks, narrow');
    await bar.getByRole('button', { name: 'Cancel 2 tasks' }).click();
    await failAndRefund(db, first, { failCode: 'internal', failMsg: 'no' });
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2 tasks' }).click();
    const result = page.getByRole('dialog', { name: '1 task cancelled' });
    await result.getByText('132 credits refunded.').waitFor();
    await result.getByText('1 had already ended: failed').waitFor();
    await closeDialog(page, 'Done');
    await bar.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Cancelled 1' }).waitFor();
    await page.getByRole('link', { name: 'Waiting 1' }).waitFor();
    assert.deepEqual(errors, []);
  },
);

test('a viewer of the account can select no task', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  await acceptTestTask(service.database.db, accountId, taskParam('a film'));
  const { page } = await visitor.signedIn({ [accountId]: 'viewer' });
  await page.goto(`${service.url}/console/a/${accountId}/tasks`);
  await page.getByRole('link', { name: 'a film' }).waitFor();
  assert.equal(await page.getByRole('checkbox').count(), 0);
});

test(
  'the ledger is filtered in the address and saved as the same lines of CSV; the days are a chart and a table',
  { skip },
  async () => {
    await awayFromMidnight();
    const { accountId } = await service.newAccount(10_000);
    const { db } = service.database;
    const failed = await acceptTestTask(db, accountId, taskParam('refunded'));
    await failAndRefund(db, failed, { failCode: 'timeout', failMsg: 'too long' });
    await acceptTestTask(db, accountId, taskParam('charged'));
    const { page, errors } = await visitor.signedIn({ [accountId]: 'viewer' });
    await page.goto(`${service.url}/console/a/${accountId}/credits`);
    await settled(page);
    await page.getByRole('figure', { name: 'Charged by day and model' }).locator('svg').waitFor();
    await page.getByText('Figures', { exact: true }).click();
    await page.getByRole('table', { name: 'Charged by day and model' }).getByRole('cell', { name: '264' }).waitFor();
    const ledger = page.getByRole('table', { name: /Ledger entries/ }).locator('tbody tr');
    await ledger.nth(3).waitFor();
    await page.getByRole('combobox', { name: 'Kind of entry' }).selectOption('charge');
    await ledger.nth(2).waitFor({ state: 'detached' });
    await page.reload();
    await settled(page);
    await becomes('the number of entries', () => ledger.count(), 2);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const [head, ...lines] = (await text(await download.createReadStream())).trim().split(/\r?\n/);
    assert.equal(head, 'entryId,createTime,kind,amount,balanceAfter,taskId,priceName,reason');
    const numbers = await ledger.locator('td:first-child .number').allInnerTexts();
    assert.deepEqual(
      lines.map((line) => line.split(',').filter((_value, place) => [0, 2, 3].includes(place))),
      numbers.map((number) => [number.replace('#', ''), 'charge', '-132']),
    );
    assert.deepEqual(errors, []);
  },
);
