import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { assertAccessible, becomes, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTask } from '../../support/service/call-api.ts';
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

test(
  'a failed task is one receipt: the reason, what to do, the charge and the equal refund; the balance is whole again',
  { skip },
  async () => {
    const { accountId } = await createTestAccount(service.database, 1_000);
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'member' });
    await page.clock.install();
    await open(`/a/${accountId}/playground`);
    await page.getByLabel('Prompt').fill('[[reject]] what the model refuses');
    await page.getByRole('button', { name: 'Generate · 165 credits' }).click();
    const receipt = page.getByRole('region', { name: 'Receipt' });
    await receipt.getByRole('heading', { name: 'Content rejected' }).waitFor();
    await receipt.getByText('\u2212165').waitFor();
    await receipt.getByText('+165').waitFor();
    await receipt.getByText('0 credits').waitFor();
    await assertAccessible(page, 'a failed task in the playground');
    // The balance is read every 15 s.
    await page.clock.fastForward(16_000);
    await page.getByRole('link', { name: 'Balance 1,000' }).waitFor();
    await page.getByRole('link', { name: 'View task' }).click();
    await page.getByRole('region', { name: 'Timeline' }).getByText('Refunded in full').waitFor();
    await assertAccessible(page, 'the page of a failed task');
    await page.getByRole('link', { name: 'Run again' }).click();
    await becomes('the prompt', () => page.getByLabel('Prompt').inputValue(), '[[reject]] what the model refuses');
    assert.deepEqual(errors, []);
  },
);

test('the sum of the ledger on screen is the balance on screen', { skip }, async () => {
  const { accountId, key } = await createTestAccount(service.database, 1_000);
  await createTask({ ...service, key }, { model: 'videogen-2.0-fast', input: { prompt: '[[reject]]', duration: 4 } });
  const { page, open } = await visitor.signedIn({ [accountId]: 'viewer' });
  await page.clock.install();
  await open(`/a/${accountId}/credits`);
  const ledger = page.getByRole('table', { name: /Ledger entries/ });
  // The ledger and the balance are read every 15 s.
  await waitFor('the refund', async () => {
    await page.clock.fastForward(16_000);
    return (await ledger.getByRole('cell', { name: '+132' }).count()) > 0 || undefined;
  });
  const amounts = await ledger.locator('tbody .amount').allInnerTexts();
  const sum = amounts
    .map((text) => Number(text.replace('\u2212', '-').replace(/[+,]/g, '')))
    .reduce((a, b) => a + b, 0);
  await page.getByRole('link', { name: `Balance ${sum.toLocaleString('en')}` }).waitFor();
  assert.equal(sum, 1_000);
});
