import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createAccountIfNone } from '../../../src/credits/open-account.ts';
import { createSetupLink } from '../../../src/accounts/people/change-users-as-operator.ts';
import { urlOfLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  closeDialog,
  password,
  startVisitor,
  type Tab,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let visitor: Visitor | undefined;
let tab: Tab;
let page: Page;

// One person goes from the printed link to the film, and nothing but the browser is used.
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  await createAccountIfNone(service.database.db, { name: 'first account', credits: 10_000 });
  visitor = await startVisitor(service, { isSetUp: false });
  tab = await visitor.open();
  ({ page } = tab);
});
after(async () => {
  await visitor?.close();
  if (skip === false) await service.close();
});

async function linkToSetUp(): Promise<string> {
  const link = await createSetupLink(service.database.db);
  assert.ok(link);
  return urlOfLink(service.baseUrl, link);
}

test('/ leads to the sign-in, which says where the setup link is', { skip }, async () => {
  const files = new Set<string>();
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith('/console') && response.ok()) files.add(pathname);
  });
  await page.goto(service.baseUrl);
  await page.getByRole('heading', { name: 'Set up this service' }).waitFor();
  await page.waitForLoadState('networkidle');
  assert.ok(files.size >= 4 && files.size <= 8, [...files].join(', '));
  await assertAccessible(page, 'before the set-up');
});

test('the link that the start prints makes the first operator, and leaves the address at once', { skip }, async () => {
  await page.goto(await linkToSetUp());
  await page.getByRole('heading', { name: 'Set up Videogen' }).waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Password').fill('too short');
  await page.getByRole('button', { name: 'Create the first account' }).click();
  await page.getByLabel('Password').and(page.locator('[aria-invalid="true"]')).waitFor();
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create the first account' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const step of ['Try it here', 'Create an API key', 'Set up callbacks']) {
    await page.getByRole('heading', { name: step }).waitFor();
  }
});

test('a used link says so, and what to do', { skip }, async () => {
  const other = await visitor?.open();
  await other?.page.goto(`${service.baseUrl}/console/setup#${'x'.repeat(43)}`);
  await other?.page.getByRole('heading', { name: 'This link can’t be opened' }).waitFor();
  await other?.context.close();
});

test('a key is shown once, and never again', { skip }, async () => {
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('web shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: /web shop/ });
  const key = await shown.locator('.secret code').innerText();
  assert.match(key, /^vg_\w+$/);
  const answer = await fetch(`${service.baseUrl}/api/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200);
  await closeDialog(page, 'Done');
  await page.getByRole('cell', { name: /^web shop/ }).waitFor();
  assert.ok(!(await page.content()).includes(key));
  await page.reload();
  await page.getByRole('cell', { name: /^web shop/ }).waitFor();
  assert.ok(!(await page.content()).includes(key));
});

test('the playground makes a video: its progress is seen to rise, and it plays', { skip }, async () => {
  await page.getByRole('link', { name: 'Playground', exact: true }).click();
  await page.getByLabel('Prompt').fill('A lighthouse in the fog [[instant]]');
  await page.getByRole('slider', { name: /Length/ }).fill('4');
  await page.getByText('9,868\u00A0credits remaining').waitFor();
  // How far the task is when the page reads it depends on the machine, so the first readings are played.
  let played: number | undefined = 20;
  await page.route('**/api/v1/jobs/timeline?*', async (route) => {
    const response = await route.fetch();
    if (played === undefined) return route.fulfill({ response });
    const envelope = (await response.json()) as { data: { task: object } }; // as the service describes it
    Object.assign(envelope.data.task, { state: 'generating', progress: played });
    return route.fulfill({ response, json: envelope });
  });
  await page.getByRole('button', { name: 'Generate · 132 credits' }).click();
  const result = page.getByRole('region', { name: 'Result' });
  await result.locator('progress[value="20"]').waitFor();
  played = 70;
  await result.locator('progress[value="70"]').waitFor();
  played = undefined;
  await result.locator('video').waitFor();
  await page.unroute('**/api/v1/jobs/timeline?*');
  await page.evaluate(
    '(() => { const film = document.querySelector("video"); film.muted = true; return film.play(); })()',
  );
  const runs =
    '(({ currentTime, videoWidth }) => currentTime > 0.2 && videoWidth === 1280)(document.querySelector("video"))';
  await waitFor('the film to run', async () => ((await page.evaluate(runs)) === true ? true : undefined));
});

test('its page has the timeline, the measured facts and the ledger line', { skip }, async () => {
  await page.getByRole('link', { name: 'View task' }).click();
  await page.getByRole('heading', { name: /^Task/ }).waitFor();
  const ledger = page.getByRole('region', { name: 'Ledger' });
  await ledger.getByRole('cell', { name: '\u2212132' }).waitFor();
  await ledger.getByRole('cell', { name: '9,868' }).waitFor();
  await page.getByRole('region', { name: 'Details' }).getByText('1280\u00A0×\u00A0720', { exact: false }).waitFor();
  for (const step of ['Accepted and charged', 'Generated', 'Succeeded']) {
    await page.getByRole('region', { name: 'Timeline' }).getByText(step, { exact: true }).waitFor();
  }
  await page.getByRole('region', { name: 'Details' }).getByText('ada@example.com (person)').waitFor();
});

test('the overview then has the use of seven days, and no first steps any more', { skip }, async () => {
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByRole('figure', { name: 'Charged by day and model' }).waitFor();
  await page.getByRole('link', { name: /A lighthouse in the fog/ }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0);
});

test('nothing was asked of another host, and nothing was against the policy of the page', { skip }, () => {
  assert.deepEqual(tab.foreign, []);
  assert.deepEqual(tab.errors, []);
});
