import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CDPSession } from 'playwright-core';
import { beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { startVisitor, type Tab, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

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
  await beginGenerationAttempt(db, taskId);
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
/** The browser decides when it compiles and collects, so one of some tabs has to stay within the bounds. What is kept at each poll is kept in all. */
const maxTabs = 3;

for (const [name, find] of Object.entries(watched)) {
  test(`hundreds of polls by ${name} take no more memory than the first ones`, { skip }, async () => {
    const grown: Grown[] = [];
    while (grown.length < maxTabs && !grown.some(isBounded)) grown.push(await grownIn(find()));
    assert.ok(grown.some(isBounded), JSON.stringify(grown));
  });
}

type Grown = { readonly early: Held; readonly late: Held };

function isBounded({ early, late }: Grown): boolean {
  return (
    late.bytes - early.bytes < furtherPolls * maxBytesPerPoll &&
    late.nodes - early.nodes < 50 &&
    late.listeners - early.listeners < 10
  );
}

/** What a new tab holds after the first polls, and after hundreds more. */
async function grownIn(page: Watched): Promise<Grown> {
  const { tab, count } = await openHastened(page);
  const devTools = await tab.context.newCDPSession(tab.page);
  const until = (polls: number) => waitFor(`${polls} polls`, () => (count() >= polls ? true : undefined));
  await until(warmUpPolls);
  const early = await heldBy(devTools);
  let late = early;
  for (const more of laterPolls) {
    await until(warmUpPolls + more);
    late = await heldBy(devTools);
    if (isBounded({ early, late })) break;
  }
  assert.deepEqual(tab.errors, []);
  await tab.context.close();
  return { early, late };
}
