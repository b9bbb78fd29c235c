import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { assertAccessible, settled, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createFakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { endPrograms } from '../../support/processes/programs.ts';
import { postgresUrl, temporalAddress } from '../../support/servers/server-addresses.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/proxies/tcp-proxy.ts';
import { type Running, spawnEntryPoint } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startWorkerWith } from '../../support/service/worker-with-upstream.ts';

// The API is a process of its own, which is killed and started again; its database and its Temporal are taken away from it.

const skip = skipWithoutBrowser();
const upstream = createFakeUpstream({ instant: false });

let environment: TestEnvironment;
let postgres: TcpProxy;
let temporal: TcpProxy;
let worker: Awaited<ReturnType<typeof startWorkerWith>>;
let api: Running;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  postgres = await startTcpProxy(new URL(await postgresUrl()).host);
  temporal = await startTcpProxy(temporalAddress());
  environment = await createTestEnvironment();
  worker = await startWorkerWith(environment.settings, upstream);
  api = await startApi();
  const { publicUrl: baseUrl } = environment.settings;
  visitor = await startVisitor({ baseUrl, database: environment.database });
});
after(async () => {
  if (skip !== false) return;
  postgres.restore();
  temporal.restore();
  await visitor.close();
  await endPrograms();
  await worker.close();
  const violations = await auditLedger(environment.database.db);
  await Promise.all([postgres.close(), temporal.close()]);
  await environment.close();
  assert.deepEqual(violations, []);
});

/** On the same port each time, behind the proxies. */
async function startApi(): Promise<Running> {
  const { environment: own, settings } = environment;
  const database = new URL(own.DATABASE_URL);
  database.host = postgres.address;
  const servers = { DATABASE_URL: database.href, TEMPORAL_ADDRESS: temporal.address };
  const running = spawnEntryPoint('api', { ...own, ...servers });
  await waitFor('the API', async () => {
    const answer = await fetch(`${settings.publicUrl}/readyz`).catch(() => undefined);
    return answer?.ok === true ? true : undefined;
  });
  return running;
}

async function killApi(): Promise<void> {
  api.child.kill('SIGKILL');
  await once(api.child, 'exit');
}

/** A page that has not been loaded anew since. */
const stays = (page: Page) => page.evaluate('window.stays = true');
const hasStayed = (page: Page) => page.evaluate('window.stays === true');

async function openPlayground() {
  const { accountId } = await createTestAccount(environment.database, 1_000);
  const tab = await visitor.signedIn({ [accountId]: 'owner' });
  await tab.open(`/a/${accountId}/playground`);
  await tab.page.getByLabel('Prompt').fill('a lighthouse');
  await stays(tab.page);
  return { ...tab, accountId };
}

const generate = (page: Page) => page.getByRole('button', { name: /^Generate/ });

/** Follows a task to its own page, until its generation is seen. */
async function followTask(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'View task' }).click();
  await page.getByRole('heading', { name: 'Task Generating' }).waitFor();
  return page.url().slice(page.url().lastIndexOf('/') + 1);
}

async function balanceOf(accountId: string) {
  return (await findAccount(environment.database.db, accountId))?.balance;
}

const finished = (page: Page) => page.getByRole('heading', { name: 'Task Succeeded' }).waitFor();

test(
  'while the API is killed and started again, the page says so and goes on by itself to the end',
  { skip },
  async () => {
    const { page, accountId } = await openPlayground();
    await generate(page).click();
    const taskId = await followTask(page);
    await killApi();
    const banner = page.getByRole('status').filter({ hasText: 'The service is not responding' });
    await banner.waitFor();
    await page.getByText('a lighthouse').first().waitFor();
    await assertAccessible(page, 'a task while the service is away');
    upstream.finish(taskId);
    api = await startApi();
    await finished(page);
    await banner.waitFor({ state: 'detached' });
    assert.equal(await hasStayed(page), true);
    assert.equal(await balanceOf(accountId), 1_000 - 165);
  },
);

test(
  'a request that the kill of the API cut off is repeated by the same button: one task, one charge',
  { skip },
  async () => {
    const { page, accountId } = await openPlayground();
    const earlier = upstream.jobs.length;
    let isCutOff = false;
    // The service has accepted it, and dies before its answer is through.
    await page.route('**/api/v1/jobs/createTask', async (route) => {
      if (isCutOff) return route.continue();
      isCutOff = true;
      await route.fetch();
      await waitFor('the job', () => (upstream.jobs.length > earlier ? true : undefined));
      await killApi();
      return route.abort('connectionreset');
    });
    await generate(page).click();
    await page.getByRole('alert').filter({ hasText: 'No connection' }).waitFor();
    assert.equal(await balanceOf(accountId), 1_000 - 165);
    api = await startApi();
    await generate(page).dblclick();
    const taskId = await followTask(page);
    await page.goBack();
    await page.getByRole('link', { name: 'View task' }).waitFor();
    await page.goForward();
    upstream.finish(taskId);
    await finished(page);
    assert.equal(await balanceOf(accountId), 1_000 - 165);
  },
);

test(
  'while the database is away, pages keep what they show and say so, and a new one says why it is empty',
  { skip },
  async () => {
    const { page, context } = await openPlayground();
    await generate(page).click();
    const taskId = await followTask(page);
    postgres.cut();
    const banner = page.getByRole('status').filter({ hasText: 'The service is recovering' });
    await banner.waitFor();
    await page.getByText('a lighthouse').first().waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByRole('alert').filter({ hasText: 'Its database is unavailable' }).waitFor();
    await assertAccessible(other, 'a page that is opened while the database is away');
    postgres.restore();
    await other.getByRole('heading', { name: 'Task Generating' }).waitFor();
    upstream.finish(taskId);
    await finished(page);
    await banner.waitFor({ state: 'detached' });
    assert.equal(await hasStayed(page), true);
  },
);

test('one failure of a whole page is said once, with one way to try again', { skip }, async () => {
  const { page } = await openPlayground();
  postgres.cut();
  for (const name of ['Credits', 'Members']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Its database is unavailable' }).first().waitFor();
    await settled(page);
    assert.equal(await page.getByRole('alert').count(), 1, name);
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 1, name);
  }
  postgres.restore();
  await page.getByRole('table', { name: 'Members' }).waitFor();
});

test(
  'while Temporal is away, a task is accepted and charged, waits, and says so; then it goes on by itself',
  { skip },
  async () => {
    const { page, accountId } = await openPlayground();
    temporal.cut();
    await generate(page).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('Generation starts automatically.').waitFor();
    await result.getByText('Waiting', { exact: true }).waitFor();
    assert.equal(await balanceOf(accountId), 1_000 - 165);
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page
      .getByRole('row', { name: /a lighthouse/ })
      .getByText('Waiting')
      .waitFor();
    await settled(page);
    temporal.restore();
    await page.getByRole('link', { name: 'a lighthouse' }).click();
    // What was not started in the outage is found within two minutes.
    await page.getByRole('heading', { name: 'Task Generating' }).waitFor();
    await upstream.whileFinishing(() => finished(page));
    assert.equal(await hasStayed(page), true);
    assert.equal(await balanceOf(accountId), 1_000 - 165);
  },
);
