import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findAccount } from '../../src/accounts/accounts.ts';
import { focused, holdAnswers } from '../support/console.ts';
import { plainImage } from '../support/hostile-images.ts';
import { assertClean, docsReader, openForm, sectionOf } from './docs-reader.ts';

const { skip, service, visitor } = docsReader();

const balanceOf = async (accountId: string) => (await findAccount(service().database.db, accountId))?.balance;

/** Sends the form as it stands; returns the status and the body that are shown. */
async function send(page: Page, operationId: string) {
  const section = sectionOf(page, operationId);
  await section.getByRole('button', { name: /^Send/ }).click();
  return responseIn(page, operationId);
}

async function responseIn(page: Page, operationId: string) {
  const answer = sectionOf(page, operationId).locator('.answer');
  const status = await answer.locator('.badge').innerText();
  return { status: status.split(' ')[0], body: await answer.locator('pre').innerText() };
}

describe('requests from the reference', { skip }, () => {
  test('without a key are answered with 401, and with a key that is typed in by the service', async () => {
    const { key } = await service().newAccount(1_000);
    const tab = await visitor().open();
    const { page } = tab;
    await page.goto(`${service().url}/docs/reference`);
    await openForm(page, 'getCredits');
    const refused = await send(page, 'getCredits');
    assert.equal(refused.status, '401');
    assert.match(refused.body, /a valid API key is required/);
    await page.getByLabel('API key').fill(key);
    const { status, body } = await send(page, 'getCredits');
    assert.equal(status, '200');
    assert.match(body, /"balance": 1000/);
    assertClean(tab);
  });

  test('that cost credits show the price, and charge it only after a second click', async () => {
    const { accountId, key } = await service().newAccount(1_000);
    const tab = await visitor().open();
    const { page } = tab;
    await page.goto(`${service().url}/docs/reference`);
    const section = await openForm(page, 'createTask');
    await page.getByLabel('API key').fill(key);
    const started = service().started.length;
    await section.getByRole('button', { name: /^Send/ }).click();
    const charge = section.getByRole('button', { name: 'Charge 165 credits' });
    await focused(charge);
    assert.deepEqual([service().started.length, await balanceOf(accountId)], [started, 1_000]);
    await charge.click();
    const { status, body } = await responseIn(page, 'createTask');
    assert.equal(status, '200');
    assert.match(body, /"taskId": "[0-9a-f-]{36}"/);
    assert.deepEqual([service().started.length, await balanceOf(accountId)], [started + 1, 1_000 - 165]);
    assertClean(tab);
  });

  test('are sent once at a time, and a create without a response is repeated without a second charge', async () => {
    const { accountId, key } = await service().newAccount(1_000);
    const { page } = await visitor().open();
    await page.goto(`${service().url}/docs/reference`);
    const credits = await openForm(page, 'getCredits');
    await page.getByLabel('API key').fill(key);
    let reads = 0;
    page.on('request', (request) => (reads += request.url().endsWith('/api/v1/credits') ? 1 : 0));
    const { asked, release } = await holdAnswers(page, '/api/v1/credits');
    const button = credits.getByRole('button', { name: /^Send/ });
    await button.press('Enter');
    await asked();
    await button.press('Enter');
    release();
    assert.equal((await responseIn(page, 'getCredits')).status, '200');
    assert.equal(reads, 1);

    const keys: unknown[] = [];
    // The service accepts the first create; its response does not arrive.
    await page.route('**/api/v1/jobs/createTask', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    const section = await openForm(page, 'createTask');
    const charge = async () => {
      await section.getByRole('button', { name: /^Send/ }).click();
      await section.getByRole('button', { name: 'Charge 165 credits' }).click();
    };
    await charge();
    await section.locator('.answer').getByText('no response').waitFor();
    await charge();
    assert.equal((await responseIn(page, 'createTask')).status, '200');
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
    assert.deepEqual(keys, [keys[0], keys[0]]);
    assert.equal(await balanceOf(accountId), 1_000 - 165);
  });

  test('that would be refused charge nothing and show why', async () => {
    const { accountId, key } = await service().newAccount(1_000);
    const { page } = await visitor().open();
    await page.goto(`${service().url}/docs/reference`);
    const section = await openForm(page, 'createTask');
    await page.getByLabel('API key').fill(key);
    await section.getByLabel('Body').fill('{"model": "videogen-2.0", "input": {"prompt": "x", "colour": 1}}');
    const { status, body } = await send(page, 'createTask');
    assert.equal(status, '422');
    assert.match(body, /input\.colour/);
    assert.equal(await balanceOf(accountId), 1_000);
  });

  test('send parameters, and files as they are', async () => {
    const { key } = await service().newAccount(1_000, ['tasks:write', 'tasks:read']);
    const tab = await visitor().open();
    const { page } = tab;
    await page.goto(`${service().url}/docs/reference`);
    const list = await openForm(page, 'listTasks');
    await page.getByLabel('API key').fill(key);
    await list.getByLabel('limit').fill('0');
    assert.equal((await send(page, 'listTasks')).status, '422');
    await list.getByLabel('limit').fill('5');
    assert.equal((await send(page, 'listTasks')).status, '200');
    const upload = await openForm(page, 'uploadMedia');
    const image = { name: 'boat.png', mimeType: 'image/png', buffer: await plainImage(400, 400).png().toBuffer() };
    await upload.getByLabel('File', { exact: true }).setInputFiles(image);
    const { status, body } = await send(page, 'uploadMedia');
    assert.equal(status, '200');
    assert.match(body, /"url": "http/);
    assertClean(tab);
  });

  test('use the key of the tab also after a reload; another tab does not have it', async () => {
    const { key } = await service().newAccount(1_000);
    const { page, context } = await visitor().open();
    await page.goto(`${service().url}/docs/reference`);
    await openForm(page, 'getCredits');
    await page.getByLabel('API key').fill(key);
    await page.reload();
    await openForm(page, 'getCredits');
    assert.equal((await send(page, 'getCredits')).status, '200');
    assert.equal(await page.evaluate('Object.values(localStorage).join().includes("vg_")'), false);
    const other = await context.newPage();
    await other.goto(`${service().url}/docs/reference`);
    await openForm(other, 'getCredits');
    assert.equal(await other.getByLabel('API key').inputValue(), '');
  });

  test('use the session of a person who is signed in to the console, for the account of choice', async () => {
    const [first, second] = [await service().newAccount(111), await service().newAccount(222)];
    const tab = await visitor().signedIn({ [first.accountId]: 'owner', [second.accountId]: 'viewer' });
    const { page } = tab;
    await page.goto(`${service().url}/docs/reference`);
    const section = await openForm(page, 'getCredits');
    const choice = page.getByLabel('Send as');
    for (const [accountId, balance] of [
      [second.accountId, 222],
      [first.accountId, 111],
    ] as const) {
      await choice.selectOption(accountId);
      const { status, body } = await send(page, 'getCredits');
      assert.equal(status, '200');
      assert.match(body, new RegExp(`"balance": ${balance}`));
    }
    assert.equal(await section.getByLabel('API key').isVisible(), false);
    assertClean(tab);
  });

  test('to endpoints of operators and of the console use the session of an operator', async () => {
    const tab = await visitor().signedIn({}, { operator: true });
    const { page } = tab;
    await page.goto(`${service().url}/docs/reference/operators`);
    for (const operationId of ['adminListAccounts', 'getMe', 'healthz', 'consoleOptions']) {
      await openForm(page, operationId);
      if (operationId === 'adminListAccounts') await page.getByLabel('Send as').waitFor();
      assert.equal((await send(page, operationId)).status, '200', operationId);
    }
    assertClean(tab);
  });
});
