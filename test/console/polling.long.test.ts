import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { startGeneration } from '../../src/stores/tasks.ts';
import { createAccount } from '../../src/stores/accounts.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import { startVisitor, type Tab, type Visitor } from '../support/console.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// Pages that are open for long. The engine is played: the tasks here never end, and one makes progress at every look.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
let accountId: string;
let taskId: string;
let looks = 0;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService({ progressOf: () => Promise.resolve((looks += 1) % 100) });
  // What other tabs of the same browser do would be measured, too.
  visitor = await startVisitor({ baseUrl: service.url, database: service.database }, { isAlone: true });
  const { db } = service.database;
  accountId = await createAccount(db, { name: 'Northlight Studio', credits: 100_000 });
  for (let n = 0; n < 20; n += 1) taskId = await acceptTestTask(db, accountId, taskParam(`film ${n}`));
  await startGeneration(db, taskId);
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

/** Within the page a hundred seconds between two polls are one, and the browser keeps no record of the requests. */
const hastened = `(() => {
  const plain = window.setInterval;
  window.setInterval = (work, ms, ...rest) => plain(work, ms / 100, ...rest);
  performance.setResourceTimingBufferSize(0);
})()`;

type Watched = { readonly path: string; readonly polls: string };

const watched: Readonly<Record<string, () => Watched>> = {
  'a task': () => ({ path: `/a/${accountId}/tasks/${taskId}`, polls: '/api/v1/jobs/timeline' }),
  'the list of tasks': () => ({ path: `/a/${accountId}/tasks`, polls: '/api/v1/jobs/listTasks' }),
  'the overview of operators': () => ({ path: '/ops', polls: '/api/admin/v1/overview' }),
};

async function openHastened({ path, polls }: Watched): Promise<{ tab: Tab; count: () => number }> {
  const tab = await visitor.signedIn({ [accountId]: 'owner' }, { operator: true });
  let count = 0;
  tab.page.on('requestfinished', (request) => {
    if (new URL(request.url()).pathname === polls) count += 1;
  });
  await tab.page.addInitScript(hastened);
  await tab.open(path);
  return { tab, count: () => count };
}

type Held = { readonly bytes: number; readonly nodes: number; readonly listeners: number };

async function heldBy(devTools: CDPSession): Promise<Held> {
  for (const _round of [1, 2]) await devTools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devTools.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await devTools.send('Memory.getDOMCounters');
  return { bytes: usedSize, nodes, listeners: jsEventListeners };
}

/** Until then, code is still compiled and caches fill. */
const warmUpPolls = 100;
const furtherPolls = 200;
/** A moment may find half a megabyte that is given back soon; what is kept at each poll is there at all of them. */
const laterPolls = [furtherPolls, furtherPolls + 50, furtherPolls + 100, furtherPolls + 150];
/** An answer that is kept at each poll takes more; compiled code and caches take less. */
const maxBytesPerPoll = 3_000;

for (const [name, find] of Object.entries(watched)) {
  test(`hundreds of polls by ${name} take no more memory than the first ones`, { skip }, async () => {
    const { tab, count } = await openHastened(find());
    const devTools = await tab.context.newCDPSession(tab.page);
    const until = (polls: number) => waitFor(`${polls} polls`, () => (count() >= polls ? true : undefined), 180_000);
    await until(warmUpPolls);
    const early = await heldBy(devTools);
    let late = early;
    for (const more of laterPolls) {
      await until(warmUpPolls + more);
      late = await heldBy(devTools);
      if (late.bytes - early.bytes < furtherPolls * maxBytesPerPoll) break;
    }
    const grown = JSON.stringify({ early, late });
    assert.ok(late.bytes - early.bytes < furtherPolls * maxBytesPerPoll, grown);
    assert.ok(late.nodes - early.nodes < 50, grown);
    assert.ok(late.listeners - early.listeners < 10, grown);
    assert.deepEqual(tab.errors, []);
    await tab.context.close();
  });

  test(`${name} is not asked for while the page is hidden, and at once when it is seen again`, { skip }, async () => {
    const { tab, count } = await openHastened(find());
    await waitFor('polls', () => (count() > 3 ? true : undefined));
    await show(tab.page, 'hidden');
    // What was asked before may still be answered.
    await pass(tab.page, 20);
    const earlier = count();
    await pass(tab.page, 120);
    assert.equal(count(), earlier);
    const next = tab.page.waitForRequest((request) => new URL(request.url()).pathname === find().polls);
    await show(tab.page, 'visible');
    await next;
    await tab.context.close();
  });
}

test('a list that was paused asks for nothing until it goes on', { skip }, async () => {
  const { tab, count } = await openHastened({ path: `/a/${accountId}/tasks`, polls: '/api/v1/jobs/listTasks' });
  await waitFor('polls', () => (count() > 3 ? true : undefined));
  await tab.page.getByRole('button', { name: 'Pause' }).click();
  // What was asked before may still be answered.
  await pass(tab.page, 20);
  const earlier = count();
  await pass(tab.page, 120);
  assert.equal(count(), earlier);
  await tab.page.getByRole('button', { name: 'Go on' }).click();
  await waitFor('more polls', () => (count() > earlier + 3 ? true : undefined));
  await tab.context.close();
});

function show(page: Page, state: 'hidden' | 'visible'): Promise<unknown> {
  return page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);
}

/** So many seconds, as the page counts them for its polls. */
function pass(page: Page, seconds: number): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    let left = ${seconds};
    const timer = setInterval(() => { if (--left === 0) { clearInterval(timer); resolve(); } }, 1000);
  })`);
}

for (const viewport of [
  { width: 1280, height: 860 },
  { width: 360, height: 740 },
]) {
  test(`new tasks wait behind a button, and no row moves, at ${viewport.width} px`, { skip }, async () => {
    const tab = await visitor.signedIn({ [accountId]: 'viewer' }, { viewport });
    const { page } = tab;
    await tab.open(`/a/${accountId}/tasks`);
    const rows = page.getByRole('table', { name: 'Tasks' }).locator('tbody tr');
    const first = await rows.first().boundingBox();
    const [text, number] = [await rows.first().getByRole('link').innerText(), await rows.count()];
    for (const n of [1, 2]) await acceptTestTask(service.database.db, accountId, taskParam(`fresh ${n}`));
    const more = page.getByRole('button', { name: '2 new tasks' });
    await more.waitFor();
    assert.deepEqual(await rows.first().boundingBox(), first);
    assert.equal(await rows.first().getByRole('link').innerText(), text);
    assert.equal(await rows.count(), number);
    await more.click();
    await rows.first().getByRole('link', { name: 'fresh 2' }).waitFor();
    await more.waitFor({ state: 'detached' });
    assert.deepEqual(await rows.first().boundingBox(), first);
    await tab.context.close();
  });
}
