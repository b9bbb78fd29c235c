import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { ordinaryScopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { exchangeOf } from '../../../src/tasks/callbacks/recorded-exchange.ts';
import { createRequestLog, type RequestLog } from '../../../src/library/request-log/request-log-buffer.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { setTaskTimes } from '../../support/database/aged-task.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  startVisitor,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

const skip = skipWithoutBrowser();
const phone = { viewport: { width: 390, height: 844 } };

let service: HttpService;
let log: RequestLog;
let visitor: Visitor;
let accountId: string;
let key: string;
before(async () => {
  if (skip !== false) return;
  const database = await createTestDatabase();
  const { db } = database;
  log = createRequestLog({ db, log: { warn: () => undefined }, events: { emit: () => {} }, delayMs: 3_600_000 });
  service = await startHttpService({ database, requestLog: log });
  ({ accountId } = await service.newAccount(100_000));
  const made = await createKeyUnchecked(db, { accountId, name: 'renders', scopes: ordinaryScopes });
  assert.ok(made);
  key = made.key;
  visitor = await startVisitor({ baseUrl: service.url, database });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
  await service.database.close();
});

test(
  'a refused request is found by its status and its key, and shows its code and id; a create leads to its task',
  { skip },
  async () => {
    const refused = await service.create(key, { ...plainRequest, model: 'none' });
    const created = await service.create(key, plainRequest);
    const taskId = String(created.json.data['taskId']);
    await service.recordInfo(key, taskId);
    await log.drain();
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
    await open(`/a/${accountId}`);
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    const rows = page.getByRole('table', { name: 'Requests' }).locator('tbody tr');
    await rows.nth(2).waitFor();
    await page.getByLabel('API key', { exact: true }).selectOption('renders');
    await page.getByRole('link', { name: 'Rejected' }).click();
    await page.getByRole('cell', { name: 'invalid_request' }).waitFor();
    await rows.nth(1).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 1);
    assert.match(page.url(), /\?(?=.*status=4xx)(?=.*key=)/);
    await rows.first().locator('summary').click();
    await page.getByText(String(refused.headers['x-request-id'])).waitFor();
    await assertAccessible(page, 'a refused request');

    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('searchbox', { name: 'Request ID' }).fill(String(created.headers['x-request-id']));
    await rows.nth(1).waitFor({ state: 'detached' });
    // With the keyboard.
    await rows.first().locator('summary').focus();
    await page.keyboard.press('Enter');
    await rows
      .first()
      .getByRole('link', { name: taskId.slice(-8) })
      .click();
    await page.waitForURL(`**/tasks/${taskId}`);
    assert.deepEqual(errors, []);
  },
);

test(
  'an attempt shows its request without the signature, and its response only where it is public',
  { skip },
  async () => {
    const { db } = service.database;
    const taskId = await acceptTestTask(db, accountId, taskParam('a boat', {}, 'https://receiver.example/hook'));
    await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
    const sent = { headers: { 'webhook-id': 'msg_1', 'webhook-signature': 'v1,secret' }, body: '{"code":501}' };
    for (const isPublic of [false, true]) {
      const headers = { 'content-type': 'text/plain' };
      await recordDeliveryAttempt(db, {
        delivery: { deliveryId: taskId, redeliveries: 0 },
        attempt: {
          startedAt: Date.now() - 60_000,
          durationMs: 41,
          status: 500,
          error: undefined,
          responseHead: Buffer.from(isPublic ? 'it broke' : 'of a private network'),
          exchange: exchangeOf(sent, { headers, isPublic }),
        },
        newState: { state: 'pending', dueAt: Date.now() + 300_000 },
      });
    }
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'viewer' }, phone);
    await open(`/a/${accountId}/tasks/${taskId}`);
    const callback = page.getByRole('region', { name: 'Callback' });
    const attempts = callback.getByText('Request and response');
    await attempts.first().click();
    await callback.getByRole('region', { name: 'Response to attempt 2' }).getByText('it broke').waitFor();
    const request = await callback.getByRole('region', { name: 'Request of attempt 2' }).innerText();
    assert.match(request, /POST https:\/\/receiver\.example\/hook\nwebhook-id: msg_1\nwebhook-signature: \(hidden\)/);
    assert.match(request, /"code": 501/);
    await attempts.nth(1).click();
    await callback.getByText('Responses of receivers in a private network').waitFor();
    assert.doesNotMatch(await page.locator('body').innerText(), /of a private network\b.*$|v1,secret/);
    await callback.getByText('Next attempt').waitFor();
    await assertAccessible(page, 'the attempts of a callback');
    await assertNoSidewaysScroll(page, 'the attempts of a callback');
    assert.deepEqual(errors, []);
  },
);

test(
  'usage shows each day by model and by key, success and latency of each model, and saves the same as a file',
  { skip },
  async () => {
    const { db } = service.database;
    const { accountId: used } = await service.newAccount(100_000);
    const made = await createKeyUnchecked(db, { accountId: used, name: 'nightly', scopes: ordinaryScopes });
    assert.ok(made);
    const by = { kind: 'key', keyId: made.keyId } as const;
    const createdAt = Date.now() - 86_400_000;
    for (const isFailed of [false, false, false, true]) {
      const taskId = await acceptTestTask(db, used, taskParam('a boat'), by);
      await (isFailed
        ? failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' })
        : completeTask(db, taskId, madeUpResult));
      await setTaskTimes(service.database, taskId, { createdAt, endedAt: createdAt + 30_000 });
    }
    const { page, errors, open } = await visitor.signedIn({ [used]: 'viewer' });
    await open(`/a/${used}/usage`);
    const row = page
      .getByRole('table', { name: 'Success and latency by model' })
      .getByRole('row', { name: /videogen/ });
    await row.waitFor();
    // 3 of 4 tasks, 132 credits each, and a median that is known to 5 %.
    assert.match((await row.innerText()).replaceAll(/\s+/g, ' '), /4 75% (?:29|30|31) s (?:29|30|31) s 396/);
    await assertAccessible(page, 'usage');
    await page.getByLabel('Group by').selectOption('By API key');
    await page.getByLabel('Measure').selectOption('Tasks');
    const chart = page.getByRole('figure', { name: 'Tasks by day and key' });
    await chart.getByText('nightly').waitFor();
    assert.match(page.url(), /\?(?=.*by=key)(?=.*of=tasks)/);
    await chart.getByRole('img', { name: /: 4 tasks$/ }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const stream = await (await saved).createReadStream();
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    const day = new Date(createdAt).toISOString().slice(0, 10);
    assert.equal(text, `day,id,name,tasks,succeeded,failed,credits\r\n${day},${made.keyId},nightly,4,3,1,396\r\n`);

    const { accountId: unused } = await service.newAccount(0);
    const other = await visitor.signedIn({ [unused]: 'member' }, phone);
    await other.open(`/a/${unused}/usage`);
    await other.page.getByRole('heading', { name: 'No tasks in this period' }).waitFor();
    await assertAccessible(other.page, 'no usage');
    assert.deepEqual([...errors, ...other.errors], []);
  },
);
