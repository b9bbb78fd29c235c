import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { text as textOf } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  focused,
  password,
  settled,
  startVisitor,
  type Visitor,
  windows,
} from '../../support/console/console-visitor.ts';
import { fillAccount, type FilledAccount } from '../../support/tasks/filled-account.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';

// What an owner does with the data of the account: the content of a task is deleted, everything is exported.

const skip = skipWithoutBrowser();

let service: TestService;
let receiver: CallbackReceiver;
let visitor: Visitor;
let filled: FilledAccount;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  receiver = await startCallbackReceiver({ answer: () => 204 });
  visitor = await startVisitor(service);
  filled = await fillAccount(service, receiver.url);
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await receiver.close();
  await service.close();
});

test(
  'an owner deletes the content of a task: the dialog says what is kept, and that is what is left',
  { skip },
  async () => {
    const { accountId, succeeded } = filled;
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' }, windows.narrow);
    await page.goto(`${service.baseUrl}/console/a/${accountId}/tasks/${succeeded}`);
    await page.getByLabel('The generated video').waitFor();
    const button = page.getByRole('button', { name: 'Delete content' });
    await button.click();
    const dialog = page.getByRole('dialog', { name: 'Delete this task’s content?' });
    await dialog.getByText(/^Not deleted: .*price.*ledger entries/).waitFor();
    await assertAccessible(page, 'the dialog of the deletion');
    await page.keyboard.press('Escape');
    await focused(button);
    await page.getByLabel('The generated video').waitFor();

    await button.click();
    await dialog.getByRole('button', { name: 'Delete content' }).click();
    await page.getByText('Content deleted').first().waitFor();
    await settled(page);
    await becomes('the mentions of the prompt', () => page.getByText('A paper boat').count(), 0);
    for (const name of ['Delete content', 'Run again', 'Download']) {
      assert.equal(await page.getByRole('button', { name }).or(page.getByRole('link', { name })).count(), 0, name);
    }
    await page.getByRole('region', { name: 'Ledger' }).getByRole('cell', { name: '\u2212198' }).waitFor();
    await assertAccessible(page, 'a task without content');
    await assertNoSidewaysScroll(page, 'a task without content');
    assert.deepEqual(errors, []);
  },
);

test('only owners delete and export; others are told so, or see no export', { skip }, async () => {
  const { accountId, failed } = filled;
  for (const role of ['member', 'viewer'] as const) {
    const { page } = await visitor.signedIn({ [accountId]: role });
    await page.goto(`${service.baseUrl}/console/a/${accountId}/tasks/${failed}`);
    const button = page.getByRole('button', { name: 'Delete content' });
    await button.focus();
    await page.keyboard.press('Enter');
    assert.equal(await button.getAttribute('aria-disabled'), 'true', role);
    assert.equal(await page.getByRole('dialog').count(), 0, role);
    await page.goto(`${service.baseUrl}/console/a/${accountId}/settings`);
    await page.getByText('Owners of this account manage its settings.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Export data' }).count(), 0, role);
  }
});

test('an owner exports everything of the account, after proving again who sits there', { skip }, async () => {
  const { accountId, succeeded } = filled;
  const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
  // The sign-in was a while ago.
  await service.database.db.run({
    name: 'test-old-proof',
    text: `update sessions set authenticated_at = now() - interval '1 hour'`,
  });
  await page.goto(`${service.baseUrl}/console/a/${accountId}/settings`);
  await settled(page);
  await assertAccessible(page, 'settings of an owner');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export data' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm your identity' });
  await proof.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  const file = await saved;
  assert.equal(file.suggestedFilename(), 'account.jsonl');
  const text = await textOf(await file.createReadStream());
  const lines = text.trimEnd().split('\n');
  assert.ok(text.includes(succeeded));
  assert.deepEqual(JSON.parse(lines.at(-1) ?? ''), { kind: 'end', lines: lines.length - 1 });
  assert.deepEqual(errors, []);
});

test(
  'an owner closes the account: its name is typed first, and the console has nothing of it any more',
  { skip },
  async () => {
    const name = 'Harbour Films';
    const accountId = await createAccount(service.database.db, { name, credits: 10 });
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' }, windows.narrow);
    await page.goto(`${service.baseUrl}/console/a/${accountId}/settings`);
    await settled(page);
    await page.getByRole('button', { name: 'Close account' }).click();
    const dialog = page.getByRole('dialog', { name: `Close ${name} for good?` });
    await dialog.getByText(/^Retained: the ledger/).waitFor();
    await assertAccessible(page, 'the dialog of the closing');
    await assertNoSidewaysScroll(page, 'the dialog of the closing');
    const go = dialog.getByRole('button', { name: 'Close account' });
    assert.equal(await go.getAttribute('aria-disabled'), 'true');
    let sent = 0;
    page.on('request', (request) => void (request.url().endsWith('/account/close') && (sent += 1)));
    await dialog.getByRole('textbox').fill(name.slice(1));
    await page.keyboard.press('Enter');
    assert.equal((await findAccount(service.database.db, accountId))?.closedAt, undefined);
    await dialog.getByRole('textbox').fill(name);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await becomes('the mentions of the account', () => page.getByText(name, { exact: true }).count(), 0);
    assert.ok((await findAccount(service.database.db, accountId))?.closedAt);
    assert.equal(sent, 1, 'and not with another name');
    assert.deepEqual(errors, []);
  },
);
