import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { skipWithoutBrowser } from '../support/browser.ts';
import { startVisitor, type Visitor } from '../support/console.ts';
import { accountPages, windows } from '../support/console-pages.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../support/callback-receiver.ts';
import { fillAccount, type FilledAccount } from '../support/filled-account.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

// What a page shows first has the places of what it shows in the end: nothing moves under the eye or the pointer.

const skip = skipWithoutBrowser();

let service: TestService;
let receiver: CallbackReceiver;
let visitor: Visitor;
let filled: FilledAccount;
let empty: string;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  receiver = await startCallbackReceiver();
  visitor = await startVisitor(service);
  filled = await fillAccount(service, receiver.url);
  empty = (await createTestAccount(service.database)).accountId;
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await receiver.close();
  await service.close();
});

/** As the browser itself measures it, from the first paint on. */
const observe = `
  window.moved = [];
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      const what = sources.map(({ node }) => node?.className || node?.nodeName || 'gone').join(', ');
      if (!hadRecentInput) window.moved.push({ value, what });
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

function pathsBelow(accountId: string, state: string, paths: Readonly<Record<string, string>>) {
  const named = Object.entries(paths).map(([name, path]) => [`${name}, ${state}`, `/a/${accountId}${path}`] as const);
  return Object.fromEntries(named);
}

type Moved = { readonly value: number; readonly what: string };

for (const [window, options] of Object.entries({ wide: windows.light, narrow: windows.narrow })) {
  test(`pages do not move while they load: ${window}`, { skip }, async () => {
    const tab = await visitor.signedIn({ [filled.accountId]: 'owner', [empty]: 'owner' }, options);
    await tab.page.addInitScript(observe);
    const found: Record<string, readonly Moved[]> = {};
    const tasks = { task: `/tasks/${filled.succeeded}`, failed: `/tasks/${filled.failed}` };
    const pages = {
      ...pathsBelow(filled.accountId, 'filled', { ...accountPages, ...tasks }),
      ...pathsBelow(empty, 'empty', accountPages),
    };
    for (const [name, path] of Object.entries(pages)) {
      await tab.open(path);
      const moved = await tab.page.evaluate<readonly Moved[]>(
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.moved))))',
      );
      if (moved.reduce((sum, { value }) => sum + value, 0) > 0.02) found[name] = moved;
    }
    assert.deepEqual(found, {});
    await tab.context.close();
  });
}
