import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordQueuing } from '../../../src/tasks/task-rows.ts';
import { focused, show } from '../../support/console/console-visitor.ts';
import { type Person } from '../../support/service/person.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { actionsOn, type SeededOperatorsStage, startSeededOperatorsStage } from './operators-stage.ts';

const skip = skipWithoutBrowser();

describe('an operator in the console', { skip }, () => {
  let stage: SeededOperatorsStage;
  let page: Page;
  let owner: Person;
  let seeded: SeededOperatorsStage['seeded'];
  before(async () => {
    stage = await startSeededOperatorsStage();
    ({ page, owner, seeded } = stage);
  });
  after(() => stage.close());

  const { open, dialog, dialogShows, press, confirm, said, audited } = actionsOn(() => stage);

  test('finds a task of any account, sees its upstream jobs, and cancels it with a full refund', async () => {
    await open('/ops/tasks?state=generating');
    await page.getByRole('link', { name: 'Paper boats on a river in the rain, close up' }).click();
    await page.getByRole('table', { name: 'Upstream jobs' }).getByText('1. studio-gpu').waitFor();
    const temporal = await page.getByRole('link', { name: 'Temporal' }).getAttribute('href');
    assert.ok(temporal?.includes(seeded.generating));
    await press('Cancel');
    await dialog().getByLabel('Reason').fill('Asked for by mail');
    await confirm('Cancel task');
    await said(/^Task cancelled, 132\scredits refunded$/);
    const ledger = page.getByRole('table', { name: 'Ledger entries of this task' });
    await ledger.getByRole('row', { name: /Refund #\d+ \+132/ }).waitFor();
  });

  test('sends a failed callback again', async () => {
    await open('/ops/callbacks');
    await page.getByRole('columnheader', { name: 'Occurred' }).waitFor();
    const row = page.getByRole('row', { name: /films\.example\.com/ });
    await row.getByRole('button', { name: 'Resend' }).click();
    await said('Callback is being resent');
    await row.waitFor({ state: 'detached' });
    assert.deepEqual(
      stage.service.redelivered.map(({ deliveryId }) => deliveryId),
      [seeded.failed],
    );
  });

  test('lets a provider drain, and sees unknown cost as unknown', async () => {
    await open('/ops/providers');
    await press('Switch backup-gpu');
    await dialog().getByText('Draining', { exact: true }).click();
    await dialog().getByLabel('Reason').fill('New drivers');
    await confirm('Drain');
    await said('backup-gpu: draining');
    await page.getByText('“New drivers”').waitFor();
    const margin = page.getByRole('table', { name: 'Cost and margin by price and provider' });
    await margin.getByRole('row', { name: /studio-gpu .* at least .*1 unknown unknown$/ }).waitFor();
  });

  test('tests a provider, and sees what it answered and how fast', async () => {
    await open('/ops/providers');
    await press('Test studio-gpu');
    await confirm('Run test');
    await dialogShows('Works');
    await dialogShows(/^12\sms$/);
    await confirm('Done');
  });

  test('sees what waits and why, and ends the wait of one task and of a provider', async () => {
    const { db } = stage.service.database;
    const { accountId } = seeded;
    const reserve = async () => {
      const taskId = await acceptTestTask(db, accountId, taskParam('It waits'));
      await recordQueuing(db, taskId);
      const pool = { pool: 'studio-gpu/film-large', provider: 'studio-gpu' };
      await reserveSlot(db, { taskId, ordinal: 1, accountId, ...pool, limit: 1 });
      return taskId;
    };
    const [first, waiting] = [await reserve(), await reserve()];
    await open('/ops/waiting');
    const reasons = page.getByRole('table', { name: 'Reasons' });
    await reasons.getByRole('row', { name: /Provider limit .* studio-gpu\/film-large 1 / }).waitFor();
    await press(/^Retry task .* now$/);
    await dialog().getByLabel('Reason').fill('A customer waits');
    await confirm('Retry now');
    await said('Task is being retried');
    await press('Retry studio-gpu now');
    await dialog().getByLabel('Reason').fill('It works again');
    // The wait ends while the reason is typed.
    const none = { code: 200, msg: 'success', data: { groups: [], tasks: [], accounts: [] } };
    await page.route('**/api/admin/v1/waiting*', (route) => route.fulfill({ json: none }));
    await show(page, 'visible');
    await page.getByText('Nothing is waiting').waitFor();
    await page.unroute('**/api/admin/v1/waiting*');
    await confirm('Retry now');
    await said('1 task is being retried');
    await focused(page.getByRole('main'));
    assert.deepEqual(stage.service.retried, [waiting, waiting]);
    for (const taskId of [first, waiting])
      await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  });

  test('reads figures over time, of each point by keyboard, for another range, and the top accounts', async () => {
    await open('/ops');
    const chart = page.getByRole('figure', { name: 'Success rate' });
    const points = chart.getByRole('img');
    await chart
      .getByRole('img', { name: /Success rate/ })
      .last()
      .waitFor();
    assert.equal(await points.count(), 24);
    // When an hour turns, the last point has no tasks yet.
    const names = await Promise.all((await points.all()).map((point) => point.getAttribute('aria-label')));
    const index = names.findLastIndex((name) => name?.includes('Success rate'));
    await points.nth(index).focus();
    await chart.locator('.tip').getByText('Success rate').waitFor();
    await page.keyboard.press('ArrowLeft');
    await points
      .nth(index - 1)
      .and(page.locator(':focus'))
      .waitFor();
    await page.getByRole('combobox', { name: 'Range' }).selectOption('30 days');
    await page.waitForURL(/range=month/);
    await points.nth(29).waitFor();
    const accounts = page.getByRole('table', { name: 'Top accounts' });
    await accounts.getByRole('row', { name: /^Northlight Studio/ }).waitFor();
    const providers = page.getByRole('table', { name: 'Providers over time' });
    await providers.getByRole('row', { name: /^studio-gpu \d+ 1 / }).waitFor();
  });

  test('sees the loaded catalogue with its models and providers', async () => {
    await open('/ops/catalogue');
    const models = page.getByRole('table', { name: 'Models' });
    await models.getByRole('row', { name: /videogen-2\.0-fast .* 33\scredits .* studio-gpu .* backup-gpu/ }).waitFor();
  });

  test('announces something, which everyone sees until it is removed', async () => {
    await open('/ops');
    await press('Announcement');
    await dialog().getByLabel('Text').fill('Maintenance on Sunday');
    await dialog().getByText('Warning', { exact: true }).click();
    await dialog().getByLabel('Link').fill('https://status.example.com/');
    const end = dialog().getByLabel('Ends');
    await end.fill('2020-01-01T00:00');
    await confirm('Publish');
    await end.and(page.locator('input:invalid:focus')).waitFor();
    await end.fill('');
    await confirm('Publish');
    const banner = (on: Page) => on.getByRole('status').filter({ hasText: 'Maintenance on Sunday' });
    await banner(page).waitFor();
    const theirs = await stage.openAs(owner);
    await theirs.goto(`${stage.service.url}/console/a/${seeded.accountId}`);
    await banner(theirs).getByRole('link', { name: 'Learn more' }).waitFor();
    await theirs.context().close();
    await press('Announcement');
    await confirm('Remove');
    await banner(page).waitFor({ state: 'detached' });
  });

  test('the overview refreshes every five seconds', async () => {
    await page.clock.install();
    await open('/ops');
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await stage.service.database.db.run({ name: 'audited', text: 'update maintenance set audited_at = now()' });
    await page.clock.fastForward(6_000);
    await page.getByText(/All balances match the ledger, checked/).waitFor();
  });

  test('the audit log names the person for every change, with the reason', async () => {
    await open('/ops/audit');
    await audited([
      ['Cancelled task', 'Asked for by mail'],
      ['Switched provider', 'New drivers'],
      ['Tested provider', '–'],
      ['Retried waiting tasks', 'It works again'],
      ['Set announcement', '–'],
    ]);
  });
});
