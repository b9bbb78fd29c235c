import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, afterEach, before, test } from 'node:test';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { assertAccessible, closeDialog, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { owedCallback } from '../../support/tasks/owed-callback.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let receiver: CallbackReceiver;
let visitor: Visitor;
let answers = 500;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  receiver = await startCallbackReceiver({ answer: () => answers });
  visitor = await startVisitor(service);
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
  'a receiver that fails: its attempts are listed, the callback is sent again and delivered, and the snippet verifies it',
  { skip },
  async () => {
    const { accountId } = await createTestAccount(service.database, 1_000);
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
    await open(`/a/${accountId}/callbacks`);
    await page.getByRole('button', { name: 'Reveal secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reveal secret' }).click();
    const secret = await page.getByRole('dialog').locator('.secret code').innerText();
    assert.match(secret, /^whsec_/);
    await closeDialog(page, 'Done');

    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('Prompt').fill('[[reject]] a callback is sent for this, too');
    await page.getByText('Callback', { exact: true }).click();
    await page.getByLabel('callBackUrl').fill(`${receiver.url}/hook`);
    await page.getByRole('button', { name: /^Generate/ }).click();
    await page.getByRole('link', { name: 'View task' }).click();
    const callback = page.getByRole('region', { name: 'Callback' });
    await callback.getByRole('cell', { name: 'HTTP 500' }).first().waitFor();
    await assertAccessible(page, 'a callback that failed');

    answers = 204;
    await callback.getByRole('button', { name: 'Resend' }).click();
    // The service may send it once more by itself meanwhile.
    await callback.getByRole('cell', { name: 'HTTP 204' }).first().waitFor();
    await callback.getByText('Delivered').waitFor();

    await callback.getByText('Verify this callback').click();
    const snippet = await callback.getByRole('region', { name: 'Node.js text' }).innerText();
    const { headers, body } = receiver.received.at(-1) ?? {};
    assert.equal(await isGenuine(snippet, { headers, body, secret }), true);
    assert.equal(await isGenuine(snippet, { headers, body: `${body} `, secret }), false);
    const unsigned = { ...headers, 'webhook-signature': undefined };
    const old = { ...headers, 'webhook-timestamp': String(Number(headers?.['webhook-timestamp']) - 301) };
    for (const forged of [unsigned, old, {}]) {
      assert.equal(await isGenuine(snippet, { headers: forged, body, secret }), false);
    }
    const another = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`;
    assert.equal(await isGenuine(snippet, { headers, body, secret: another }), false);
    assert.deepEqual(errors, []);
  },
);

test(
  'a test goes to any address; a rotated secret signs beside the old one; all that failed since a time is sent again',
  { skip },
  async () => {
    const { accountId } = await createTestAccount(service.database, 1_000);
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
    await open(`/a/${accountId}/callbacks`);
    answers = 503;
    await page.getByLabel('Receiver URL').fill(`${receiver.url}/test`);
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The receiver responded with HTTP 503').waitFor();
    answers = 204;
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The receiver responded with HTTP 204').waitFor();
    await page.getByLabel('Receiver URL').fill('ftp://example.com');
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.locator('input[aria-invalid="true"]').waitFor();

    const secrets: string[] = [];
    for (const button of ['Reveal secret', 'Rotate secret']) {
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').getByRole('button', { name: button }).click();
      secrets.push(await page.getByRole('dialog').locator('.secret code').innerText());
      await closeDialog(page, 'Done');
    }
    assert.equal(new Set(secrets).size, 2);
    await page.getByLabel('Receiver URL').fill(`${receiver.url}/both`);
    await page.getByRole('button', { name: 'Send test' }).click();
    const [both] = await receiver.waitForCallbacks('/both', 1);
    await page.getByText('How to verify a callback').click();
    const snippet = await page.getByRole('region', { name: 'Node.js text' }).innerText();
    for (const secret of secrets) assert.equal(await isGenuine(snippet, { ...both, secret }), true);
    await page.getByRole('button', { name: 'Reveal secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reveal secret' }).click();
    await page.getByRole('alert').filter({ hasText: 'rotate it to get a new one' }).waitFor();
    await page.keyboard.press('Escape');

    const { db } = service.database;
    const { taskId } = await owedCallback(db, accountId, `${receiver.url}/failed`);
    const text = `update callback_deliveries set state = 'failed', created_at = now() - interval '4 days', finished_at = now()
where task_id = $1`;
    await db.run({ name: 'test-fail-delivery', text }, [taskId]);
    await page.reload();
    await page.getByRole('link', { name: 'Failed', exact: true }).click();
    await page.getByRole('row', { name: /\/failed/ }).waitFor();
    await page.getByRole('button', { name: 'Resend failed callbacks' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click();
    await page.getByText('1 callback is being resent').waitFor();
    await receiver.waitForCallbacks('/failed', 1);
    await waitFor('the record of the delivery', async () => {
      const state = `select from callback_deliveries where task_id = $1 and state = 'delivered'`;
      return (await db.run({ name: 'test-delivered', text: state }, [taskId])).length === 1 || undefined;
    });
    await page.getByRole('link', { name: 'Delivered', exact: true }).click();
    await page
      .getByRole('row', { name: /\/failed/ })
      .getByText('HTTP 204')
      .waitFor();
    assert.deepEqual(errors, []);
  },
);

/** Runs the snippet as a receiver of our clients would. */
async function isGenuine(snippet: string, callback: unknown): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-snippet-'));
  try {
    const file = join(folder, 'snippet.mjs');
    await writeFile(file, snippet);
    // The text under test exports this function.
    const module = (await import(pathToFileURL(file).href)) as { isGenuine: (callback: unknown) => boolean };
    return module.isGenuine(callback);
  } finally {
    await rm(folder, { recursive: true });
  }
}
