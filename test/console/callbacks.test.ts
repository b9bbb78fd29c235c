import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import { skipWithoutBrowser } from '../support/browser.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/callback-receiver.ts';
import { assertAccessible, startVisitor, type Visitor } from '../support/console.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let receiver: CallbackReceiver;
let visitor: Visitor | undefined;
let answers = 500;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  receiver = await startCallbackReceiver({ answer: () => answers });
  visitor = await startVisitor(service);
});
after(async () => {
  await visitor?.close();
  if (skip !== false) return;
  await receiver.close();
  await service.close();
});

test(
  'a receiver that fails: its attempts are listed, the callback is sent again and delivered, and the snippet verifies it',
  { skip },
  async () => {
    assert.ok(visitor);
    const { accountId } = await createTestAccount(service.database, 1_000);
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
    await page.getByRole('link', { name: 'Callbacks', exact: true }).click();
    await page.getByRole('button', { name: 'Reveal' }).click();
    await page.getByRole('button', { name: 'Reveal it now' }).click();
    const secret = await page.getByRole('dialog').locator('.secret code').innerText();
    assert.match(secret, /^whsec_/);
    await page.getByRole('button', { name: 'I have stored it' }).click();

    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('Prompt').fill('[[reject]] a callback is sent for this, too');
    await page.getByText('Callback', { exact: true }).click();
    await page.getByLabel('callBackUrl').fill(`${receiver.url}/hook`);
    await page.getByRole('button', { name: /^Generate/ }).click();
    await page.getByRole('link', { name: 'Timeline, ledger and details of this task' }).click();
    const callback = page.getByRole('region', { name: 'Callback' });
    await callback.getByRole('cell', { name: 'HTTP 500' }).first().waitFor();
    await assertAccessible(page, 'a callback that failed');

    answers = 204;
    await callback.getByRole('button', { name: 'Send again' }).click();
    await callback.getByRole('cell', { name: 'HTTP 204' }).waitFor();
    await callback.getByText('Delivered').waitFor();

    await callback.getByText('Verify it in your receiver').click();
    const snippet = await callback.getByRole('region', { name: 'Node.js text' }).innerText();
    const { headers, body } = receiver.received.at(-1) ?? {};
    assert.equal(await isGenuine(snippet, { headers, body, secret }), true);
    assert.equal(await isGenuine(snippet, { headers, body: `${body} `, secret }), false);
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
