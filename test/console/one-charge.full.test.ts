import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../src/stores/accounts.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import { startVisitor, type Visitor } from '../support/console.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let visitor: Visitor | undefined;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  visitor = await startVisitor(service);
});
after(async () => {
  await visitor?.close();
  if (skip === false) await service.close();
});

const createPath = '/api/v1/jobs/createTask';

async function balanceOf(accountId: string) {
  return (await findAccount(service.database.db, accountId))?.balance;
}

test('a double click makes one task', { skip }, async () => {
  assert.ok(visitor);
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page } = await visitor.signedIn({ [accountId]: 'owner' });
  await page.getByRole('link', { name: 'Playground', exact: true }).click();
  await page.getByLabel('Prompt').fill('a lighthouse');
  await page.getByRole('button', { name: /^Generate/ }).dblclick();
  await page.getByRole('link', { name: 'Timeline, ledger and details of this task' }).waitFor();
  assert.equal(await balanceOf(accountId), 1_000 - 165);
});

test(
  'when the answer is lost, the button, a reload and the way back repeat the same request: one task, one charge',
  { skip },
  async () => {
    assert.ok(visitor);
    const { accountId } = await createTestAccount(service.database, 1_000);
    const { page } = await visitor.signedIn({ [accountId]: 'owner' });
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('Prompt').fill('a lighthouse');
    const keys: string[] = [];
    // The service gets the request; its answer does not arrive, as when the network breaks.
    await page.route(`**${createPath}`, async (route) => {
      keys.push((await route.request().allHeaders())['idempotency-key'] ?? 'none');
      if (keys.length < 3) {
        await route.fetch();
        await route.abort('connectionreset');
      } else await route.continue();
    });
    const generate = page.getByRole('button', { name: /^Generate/ });
    await generate.click();
    await page.getByRole('alert').filter({ hasText: 'No connection' }).waitFor();
    await generate.click();
    await page.waitForRequest(`**${createPath}`).catch(() => undefined);
    await page.getByRole('alert').filter({ hasText: 'No connection' }).waitFor();
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page.getByRole('link', { name: 'a lighthouse' }).waitFor();
    await page.goBack();
    await page.reload();
    assert.equal(await page.getByLabel('Prompt').inputValue(), 'a lighthouse');
    await generate.click();
    await page.getByRole('link', { name: 'Timeline, ledger and details of this task' }).waitFor();
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    assert.equal(await balanceOf(accountId), 1_000 - 165);
  },
);
