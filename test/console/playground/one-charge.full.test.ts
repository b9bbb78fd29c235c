import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { becomes, focused, holdAnswers, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  visitor = await startVisitor(service);
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

const createPath = '/api/v1/jobs/createTask';
const countFetches = `
  globalThis.fetched = [];
  const send = fetch;
  fetch = (...request) => {
    fetched.push(String(request[0]?.url ?? request[0]));
    return send(...request);
  };`;

async function balanceOf(accountId: string) {
  return (await findAccount(service.database.db, accountId))?.balance;
}

test('a double click makes one task', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  let sent = 0;
  page.on('request', (request) => void (request.url().endsWith(createPath) && (sent += 1)));
  await page.getByLabel('Prompt').fill('a lighthouse [[instant]]');
  const { asked, release } = await holdAnswers(page, createPath);
  await page.getByRole('button', { name: /^Generate/ }).dblclick();
  await asked();
  release();
  await page.getByRole('link', { name: 'View task' }).waitFor();
  assert.equal(sent, 1);
  assert.equal(await balanceOf(accountId), 1_000 - 165);
});

test('a double click whose second click comes after the response makes one task', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await page.addInitScript(countFetches);
  await open(`/a/${accountId}/playground`);
  const creates = () => page.evaluate<number>(`fetched.filter((url) => url.endsWith('${createPath}')).length`);
  await page.getByLabel('Prompt').fill('a lighthouse [[instant]]');
  const generate = page.getByRole('button', { name: /^Generate/ });
  await generate.click();
  await page.getByRole('link', { name: 'View task' }).waitFor();
  assert.equal(await creates(), 1);
  const { x = 0, y = 0 } = (await generate.boundingBox()) ?? {};
  await page.mouse.move(x + 5, y + 5);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  // The request of a click leaves before its next task.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 0))');
  assert.equal(await creates(), 1);
  await generate.click();
  await becomes('the second task', creates, 2);
});

test('when the response is lost, the button repeats the same request: one task, one charge', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  await page.getByLabel('Prompt').fill('a lighthouse [[instant]]');
  const alert = page.getByRole('alert').filter({ hasText: 'No connection' });
  const keys: string[] = [];
  let lost = 0;
  // The service gets the request; its response does not arrive, as when the network breaks.
  await page.route(`**${createPath}`, async (route) => {
    keys.push((await route.request().allHeaders())['idempotency-key'] ?? 'none');
    if (keys.length < 3) {
      await route.fetch();
      // The message of the first request goes before that of the second one comes.
      await alert.waitFor({ state: 'detached' });
      lost += 1;
      await route.abort('connectionreset');
    } else await route.continue();
  });
  const generate = page.getByRole('button', { name: /^Generate/ });
  for (const sent of [1, 2]) {
    await generate.click();
    await waitFor('the lost response', () => lost === sent || undefined);
    await alert.waitFor();
  }
  await generate.click();
  await page.getByRole('link', { name: 'View task' }).waitFor();
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.equal(await balanceOf(accountId), 1_000 - 165);
});

test('a shortcut or Enter that is held, which repeats, makes one task', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  let sent = 0;
  page.on('request', (request) => void (request.url().endsWith(createPath) && (sent += 1)));
  const shown = () => new URL(page.url()).searchParams.get('tasks') ?? '';
  const generate = page.getByRole('button', { name: /^Generate/, disabled: false });
  await page.getByLabel('Prompt').fill('a lighthouse [[instant]]');
  await generate.waitFor();
  await page.keyboard.down('Control');
  await page.keyboard.down('Enter');
  await page.getByRole('link', { name: 'View task' }).waitFor();
  await generate.waitFor();
  // The first request was answered, so another one would be charged.
  for (const _repeat of [1, 2, 3]) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.keyboard.up('Control');
  const first = shown();

  await generate.focus();
  await page.keyboard.down('Enter');
  await page.waitForURL((url) => url.searchParams.get('tasks') !== first);
  await generate.waitFor();
  for (const _repeat of [1, 2, 3]) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  const second = shown();

  await page.getByRole('button', { name: 'Run again' }).focus();
  await page.keyboard.down('Enter');
  await focused(page.getByRole('button', { name: /^Same input/ }));
  for (const _repeat of [1, 2, 3]) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.keyboard.press('Escape');

  await generate.click();
  await page.waitForURL((url) => url.searchParams.get('tasks') !== second);
  assert.equal(sent, 3);
  assert.equal(await balanceOf(accountId), 1_000 - 3 * 165);
});
