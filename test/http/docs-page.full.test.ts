import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { endpoints } from '../../src/http/endpoints.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { skipWithoutBrowser, startBrowser } from '../support/browser.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';
import { waitFor } from '../support/wait-for.ts';

const skip = skipWithoutBrowser();
/** Of swagger-ui 5.35.0 itself, which we show as it is; nothing else may join them. */
const vendors: readonly string[] = [
  'color-contrast',
  'label',
  'nested-interactive',
  'scrollable-region-focusable',
  'select-name',
];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser | undefined;
let service: HttpService;
let context: BrowserContext;
let page: Page;
const requests: string[] = [];
const errors: string[] = [];

// One page for all tests, as a reader would go through it.
before(async () => {
  if (skip !== false) return;
  browser = await startBrowser();
  service = await startHttpService();
  context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  page = await context.newPage();
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${service.url}/docs/reference`);
});
after(async () => {
  if (browser === undefined) return;
  await browser.close();
  await service.close();
});

const block = (tag: string, operationId: string) => page.locator(`#operations-${tag}-${operationId}`);

/** Tries an operation out as it stands there; answers the status and the body that are shown. */
async function tryOut(tag: string, operationId: string): Promise<{ status: string; body: string }> {
  const operation = block(tag, operationId);
  if (!(await operation.getByRole('button', { name: 'Execute' }).isVisible())) {
    await operation.locator('.opblock-summary-control').click();
  }
  // An earlier answer stays there until the next one has come, and would be taken for it.
  const clear = operation.getByRole('button', { name: 'Clear' });
  if (await clear.isVisible()) await clear.click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response').first();
  const status = await answer.locator('.response-col_status').innerText();
  return { status: status.split('\n')[0] ?? '', body: await answer.locator('.highlight-code').first().innerText() };
}

test('the page shows every operation, and one of them opens with its fields', { skip }, async () => {
  await page.locator('.opblock').first().waitFor();
  assert.equal(await page.locator('.opblock').count(), endpoints.length);
  await block('tasks', 'createTask').locator('.opblock-summary-control').click();
  await block('tasks', 'createTask').getByText('Idempotency-Key').first().waitFor();
});

test('without a key an operation that is tried out shows the 401', { skip }, async () => {
  const { status, body } = await tryOut('account', 'getCredits');
  assert.equal(status, '401');
  assert.match(body, /a valid API key is required/);
});

test('with a key that is entered there, credits can be read and a task be created', { skip }, async () => {
  const { accountId, key } = await service.newAccount(1_000);
  await page.locator('.auth-wrapper .authorize').first().click();
  const form = page.locator('.modal-ux .auth-container').filter({ hasText: 'apiKey' });
  await form.locator('input:focus').waitFor();
  await page.keyboard.type(key);
  await form.getByRole('button', { name: 'Apply credentials' }).click();
  await page.locator('.modal-ux .close-modal').click();
  const credits = await tryOut('account', 'getCredits');
  assert.equal(credits.status, '200');
  assert.match(credits.body, /"balance": 1000/);
  const created = await tryOut('tasks', 'createTask');
  assert.equal(created.status, '200');
  assert.match(created.body, /"taskId": "[0-9a-f-]{36}"/);
  assert.equal(service.started.length, 1);
  assert.equal((await findAccount(service.database.db, accountId))?.balance, 1_000 - 165);
});

test(
  'the key stays with the tab over a reload, until it is logged out there; another tab does not have it',
  { skip },
  async () => {
    await page.reload();
    await page.locator('.opblock').first().waitFor();
    assert.equal((await tryOut('account', 'getCredits')).status, '200');
    const kept = () => page.evaluate('[sessionStorage.getItem("videogen-keys"), localStorage.length].join()');
    assert.match(String(await kept()), /^\{"apiKey":"vg_.*\},0$/);
    const other = await context.newPage();
    await other.goto(`${service.url}/docs/reference`);
    assert.equal(await other.evaluate('sessionStorage.getItem("videogen-keys")'), null);
    await other.close();
    await page.locator('.auth-wrapper .authorize').first().click();
    await page.locator('.modal-ux').getByRole('button', { name: 'Remove authorization' }).click();
    await page.locator('.modal-ux .close-modal').click();
    assert.equal(await kept(), '{},0');
    assert.equal((await tryOut('account', 'getCredits')).status, '401');
  },
);

test(
  'the page is dark for a reader who prefers that, and light for the others, without a reload',
  { skip },
  async () => {
    // The browser restyles the page some time after it was told the preference.
    const hasBackground = (colour: string) =>
      waitFor(`the background ${colour}`, async () => {
        const seen = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
        return seen === colour ? true : undefined;
      });
    await page.emulateMedia({ colorScheme: 'dark' });
    await hasBackground('rgb(28, 32, 34)');
    await page.emulateMedia({ colorScheme: 'light' });
    await hasBackground('rgb(255, 255, 255)');
  },
);

test('no link of the page leads to another host, not even for the licence', { skip }, async () => {
  const links = await page.evaluate<string[]>('[...document.querySelectorAll("a[href]")].map((link) => link.href)');
  assert.deepEqual(
    links.filter((link) => !link.startsWith(`${service.url}/`)),
    [],
  );
  assert.ok(links.includes(`${service.url}/docs/dialect-kie`));
});

test('nothing was asked of any other host, and the console has no errors but the refusal', { skip }, () => {
  assert.ok(requests.length > 5);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:')),
    [],
  );
  assert.deepEqual(
    errors.filter((error) => !/status of 401/.test(error)),
    [],
  );
});

test('assistive technology meets no serious barriers but those of the vendor that are known', { skip }, async () => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })');
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id);
  assert.deepEqual(
    serious.filter((id) => !vendors.includes(id)),
    [],
  );
});

for (const path of ['/docs', '/docs/readme', '/docs/dialect-kie', '/docs/operations', '/docs/operations/runbooks']) {
  test(`assistive technology meets no serious barriers at ${path}, light or dark`, { skip }, async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(service.url + path);
      await page.evaluate(axe);
      const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })');
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      assert.deepEqual(
        serious.map(({ id, nodes }) => [id, nodes[0]?.html]),
        [],
      );
    }
  });
}
