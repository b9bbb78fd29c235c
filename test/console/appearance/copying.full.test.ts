import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  closeDialog,
  focused,
  startVisitor,
  type Visitor,
  windows,
} from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { waitFor } from '../../support/wait-for.ts';

// What a button copies arrives, or the button says that it did not.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  // Other tabs of the same browser would change the clipboard.
  visitor = await startVisitor({ baseUrl: service.url, database: service.database }, { isAlone: true });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

/** The dialog that shows a new key, in a browser that is changed so before. */
async function openNewKey(change: string, options = {}) {
  const { accountId } = await service.newAccount(0);
  const { page } = await visitor.signedIn({ [accountId]: 'owner' }, options);
  await page.addInitScript(change);
  await page.goto(`${service.url}/console/a/${accountId}/keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('web shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: /web shop/ });
  return { page, dialog, copy: dialog.getByRole('button', { name: 'Copy key' }) };
}

/** As over plain http from another machine. */
const withoutClipboard = 'delete Navigator.prototype.clipboard;';
const refusing = `navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));`;
const failing = 'document.execCommand = () => false;';

for (const [how, change] of Object.entries({ 'is missing': withoutClipboard, refuses: refusing })) {
  test(
    `where the clipboard of the browser ${how}, a key is copied out of its dialog all the same`,
    { skip },
    async () => {
      const { page, dialog, copy } = await openNewKey(change);
      const key = await dialog.locator('.secret code').innerText();
      await copy.click();
      await copy.getByText('Copied').waitFor();
      await focused(copy);
      await closeDialog(page, 'Done');
      await page.getByRole('button', { name: 'Create key' }).click();
      const field = page.getByLabel('Name');
      // The clipboard is another process, which takes its time.
      await waitFor('the key in the clipboard', async () => {
        await field.fill('');
        await field.press('Control+V');
        return (await field.inputValue()) === key || undefined;
      });
    },
  );

  test(`where the clipboard ${how} and nothing else copies, the button says so`, { skip }, async () => {
    const { page, dialog, copy } = await openNewKey(`${change} ${failing}`, windows.narrow);
    await copy.click();
    await dialog.getByText('Select the text and copy it by hand').waitFor();
    assert.equal(await dialog.getByText('Copied').count(), 0);
    await dialog.getByRole('button', { name: 'Copy Try it' }).click();
    const refusals = dialog.getByText('Select the text and copy it by hand');
    await becomes('the refusals of two buttons', () => refusals.count(), 2);
    await assertAccessible(page, 'a key that was not copied');
    await assertNoSidewaysScroll(page, 'a key that was not copied');
  });
}
