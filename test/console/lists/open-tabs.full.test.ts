import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { setAccountSuspendedAs } from '../../../src/accounts/accounts.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';

// Tabs that outlive the release or the page load that they belong to.

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

async function newTask() {
  const { accountId } = await service.newAccount(10_000);
  const taskId = await acceptTestTask(service.database.db, accountId, taskParam('a lighthouse'));
  return { accountId, taskId };
}

/** The service answers as a later release may: `change` edits the JSON text of each response. */
function answerAsLater(page: Page, path: string, change: (json: string) => string) {
  return page.route(`**${path}*`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: change(await response.text()) });
  });
}

test(
  'a state, a step, a failure and an entry that are newer than the page are shown by their names',
  { skip },
  async () => {
    const { accountId, taskId } = await newTask();
    await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'Too long.' });
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
    const renamed = (json: string) =>
      json
        .replaceAll('"failCode":"timeout"', '"failCode":"gpu_melted"')
        .replaceAll('"step":"accepted"', '"step":"weighed"')
        .replaceAll('"kind":"refund"', '"kind":"rebate"');
    await answerAsLater(page, '/api/v1/jobs/timeline', renamed);
    await answerAsLater(page, '/api/v1/jobs/listTasks', (json) =>
      renamed(json).replaceAll('"state":"fail"', '"state":"paused"'),
    );
    await page.goto(`${service.url}/console/a/${accountId}/tasks/${taskId}`);
    await page.getByRole('heading', { name: 'gpu_melted' }).waitFor();
    await page.getByText('weighed', { exact: true }).waitFor();
    await page.getByText(/^rebate #\d+$/).waitFor();
    await page.goto(`${service.url}/console/a/${accountId}/tasks`);
    await page.getByRole('table').getByText('paused').waitFor();
    assert.deepEqual(errors, []);
  },
);

test('a page that cannot be drawn shows what to do, and the other pages stay usable', { skip }, async () => {
  const { accountId, taskId } = await newTask();
  const { page } = await visitor.signedIn({ [accountId]: 'owner' });
  await answerAsLater(page, '/api/v1/jobs/timeline', (json) => json.replace(/"steps":\[.*?\]/, '"steps":7'));
  await page.goto(`${service.url}/console/a/${accountId}/tasks/${taskId}`);
  await page.getByRole('alert').filter({ hasText: 'This page can’t be shown' }).waitFor();
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('link', { name: 'a lighthouse' }).waitFor();
});

test('Download asks for an attachment, which browsers save also from a bucket', { skip }, async () => {
  const { accountId, taskId } = await newTask();
  const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
  await completeTask(service.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey });
  const { page } = await visitor.signedIn({ [accountId]: 'viewer' });
  await page.goto(`${service.url}/console/a/${accountId}/tasks/${taskId}`);
  const href = await page.getByRole('link', { name: 'Download' }).getAttribute('href');
  assert.equal(new URL(String(href)).searchParams.get('download'), '1');
});

test('a suspended account is shown a banner with the operator’s reason', { skip }, async () => {
  const { accountId } = await service.newAccount(0);
  const suspension = { accountId, suspended: true, reason: 'The invoice of October is not paid.' };
  await setAccountSuspendedAs(service.database.db, { kind: 'command_line', name: 'ada' }, suspension);
  const { page } = await visitor.signedIn({ [accountId]: 'viewer' });
  await page.goto(`${service.url}/console/a/${accountId}`);
  const banner = page.getByRole('status').filter({ hasText: 'This account is suspended' });
  await banner.filter({ hasText: suspension.reason }).waitFor();
});
