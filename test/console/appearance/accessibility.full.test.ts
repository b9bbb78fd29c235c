import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  startVisitor,
  type Visitor,
  windows,
} from '../../support/console/console-visitor.ts';
import { accountPages } from '../../support/console/console-pages.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { fillAccount, type FilledAccount } from '../../support/tasks/filled-account.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let receiver: CallbackReceiver;
let visitor: Visitor;
let filled: FilledAccount;
let empty: string;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  receiver = await startCallbackReceiver({ answer: () => 500 });
  visitor = await startVisitor(service);
  filled = await fillAccount(service, receiver.url);
  empty = (await createTestAccount(service.database)).accountId;
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

/** Colours of the dark window are checked on the tokens by contrast.test.ts, and every page is fitted into the narrow one. */
const shown = runsWholeMatrix ? windows : { light: windows.light };

/** Pages that show nothing of the account. The task of the other account is one that does not exist, as `failed` and `unknown` would be. */
const sameInEveryAccount = ['profile', 'security', 'models', 'model', 'failed', 'unknown', 'nowhere'];

for (const [window, options] of Object.entries(shown)) {
  const assertFit = async (page: Page, where: string) => {
    await assertAccessible(page, where);
    await assertNoSidewaysScroll(page, where);
    if (runsWholeMatrix) return;
    await page.setViewportSize(windows.narrow.viewport);
    await assertNoSidewaysScroll(page, `${where}, narrow`);
    await page.setViewportSize(options.viewport);
  };

  describe(`no finding of axe, nothing too wide, nothing against the policy: ${window}`, { skip }, () => {
    test('pages of an account, empty and filled', async () => {
      const tab = await visitor.signedIn({ [filled.accountId]: 'owner', [empty]: 'owner' }, options);
      const { page } = tab;
      const tasks = {
        task: `/tasks/${filled.succeeded}`,
        failed: `/tasks/${filled.failed}`,
        unknown: '/tasks/unknown',
        model: '/models/videogen-2.0',
      };
      for (const accountId of [filled.accountId, empty]) {
        for (const [name, path] of Object.entries({ ...accountPages, ...tasks, nowhere: '/no/such/page' })) {
          if (accountId === empty && sameInEveryAccount.includes(name)) continue;
          await tab.open(`/a/${accountId}${path}`);
          const where = `${name}, ${accountId === empty ? 'empty' : 'filled'}`;
          await assertFit(page, where);
        }
      }
      assert.deepEqual(tab.errors, []);
      assert.deepEqual(tab.foreign, []);
      await tab.context.close();
    });

    test('dialogs and menus', async () => {
      const tab = await visitor.signedIn({ [empty]: 'owner' }, options);
      const { page } = tab;
      const dialogs = [
        ['/keys', 'Create key'],
        ['/members', 'Invite'],
        ['/callbacks', 'Reveal secret'],
        ['/callbacks', 'Resend failed callbacks'],
      ] as const;
      for (const [path, button] of dialogs) {
        await tab.open(`/a/${empty}${path}`);
        await page.getByRole('main').getByRole('button', { name: button }).first().click();
        await page.getByRole('dialog').waitFor();
        await assertAccessible(page, `${path}, ${button}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      if (window === 'narrow') await page.getByRole('button', { name: 'Menu', exact: true }).click();
      await page.getByRole('button', { name: /^Account: / }).click();
      await page.getByRole('group', { name: 'Accounts' }).waitFor();
      await assertAccessible(page, 'the menu of accounts');
      assert.deepEqual(tab.errors, []);
      await tab.context.close();
    });

    test('pages before the sign-in, and those that a person may not see', async () => {
      const tab = await visitor.open(options);
      for (const path of ['/sign-in', '/setup', '/invite#used', '/reset']) {
        await tab.open(path);
        await assertFit(tab.page, path);
      }
      assert.deepEqual(tab.errors, []);
      await tab.context.close();
      const viewer = await visitor.signedIn({ [filled.accountId]: 'viewer' }, options);
      for (const path of [`/a/${filled.accountId}/keys`, `/a/${filled.accountId}/playground`, `/a/${empty}`, '/ops']) {
        await viewer.open(path);
        await assertAccessible(viewer.page, `${path}, as a viewer`);
      }
      await viewer.page.getByText('You don’t have access to this page').waitFor();
      await viewer.context.close();
    });
  });
}
