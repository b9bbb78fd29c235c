import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findAccount } from '../../src/accounts/accounts.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  focused,
  holdAnswers,
  startVisitor,
  type Tab,
  type Visitor,
  windows,
} from '../support/console.ts';
import { plainImage } from '../support/hostile-images.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';
import { runsWholeMatrix } from '../support/tier.ts';

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  visitor = await startVisitor({ baseUrl: service.url, database: service.database });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

const balanceOf = async (accountId: string) => (await findAccount(service.database.db, accountId))?.balance;

/** The part of a page that shows an endpoint. */
const sectionOf = (page: Page, operationId: string) =>
  page.locator('article.operation', { has: page.locator(`#${operationId}`) });

async function openForm(page: Page, operationId: string) {
  const section = sectionOf(page, operationId);
  await section.getByText('Try it', { exact: true }).click();
  await section.getByRole('button', { name: /^Send/ }).waitFor();
  return section;
}

/** Sends the form as it stands; returns the status and the body that are shown. */
async function send(page: Page, operationId: string) {
  const section = sectionOf(page, operationId);
  await section.getByRole('button', { name: /^Send/ }).click();
  return responseIn(page, operationId);
}

async function responseIn(page: Page, operationId: string) {
  const answer = sectionOf(page, operationId).locator('.answer');
  const status = await answer.locator('.badge').innerText();
  return { status: status.split(' ')[0], body: await answer.locator('pre').innerText() };
}

function assertClean({ errors, foreign }: Tab): void {
  assert.deepEqual(errors, []);
  assert.deepEqual(foreign, []);
}

describe('requests from the reference', { skip }, () => {
  test('without a key are answered with 401, and with a key that is typed in by the service', async () => {
    const { key } = await service.newAccount(1_000);
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`${service.url}/docs/reference`);
    await openForm(page, 'getCredits');
    const refused = await send(page, 'getCredits');
    assert.equal(refused.status, '401');
    assert.match(refused.body, /a valid API key is required/);
    await page.getByLabel('API key').fill(key);
    const { status, body } = await send(page, 'getCredits');
    assert.equal(status, '200');
    assert.match(body, /"balance": 1000/);
    assertClean(tab);
  });

  test('that cost credits show the price, and charge it only after a second click', async () => {
    const { accountId, key } = await service.newAccount(1_000);
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`${service.url}/docs/reference`);
    const section = await openForm(page, 'createTask');
    await page.getByLabel('API key').fill(key);
    const started = service.started.length;
    await section.getByRole('button', { name: /^Send/ }).click();
    const charge = section.getByRole('button', { name: 'Charge 165 credits' });
    await focused(charge);
    assert.deepEqual([service.started.length, await balanceOf(accountId)], [started, 1_000]);
    await charge.click();
    const { status, body } = await responseIn(page, 'createTask');
    assert.equal(status, '200');
    assert.match(body, /"taskId": "[0-9a-f-]{36}"/);
    assert.deepEqual([service.started.length, await balanceOf(accountId)], [started + 1, 1_000 - 165]);
    assertClean(tab);
  });

  test('are sent once at a time, and a create without a response is repeated without a second charge', async () => {
    const { accountId, key } = await service.newAccount(1_000);
    const { page } = await visitor.open();
    await page.goto(`${service.url}/docs/reference`);
    const credits = await openForm(page, 'getCredits');
    await page.getByLabel('API key').fill(key);
    let reads = 0;
    page.on('request', (request) => (reads += request.url().endsWith('/api/v1/credits') ? 1 : 0));
    const { asked, release } = await holdAnswers(page, '/api/v1/credits');
    const button = credits.getByRole('button', { name: /^Send/ });
    await button.press('Enter');
    await asked();
    await button.press('Enter');
    release();
    assert.equal((await responseIn(page, 'getCredits')).status, '200');
    assert.equal(reads, 1);

    const keys: unknown[] = [];
    // The service accepts the first create; its response does not arrive.
    await page.route('**/api/v1/jobs/createTask', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    const section = await openForm(page, 'createTask');
    const charge = async () => {
      await section.getByRole('button', { name: /^Send/ }).click();
      await section.getByRole('button', { name: 'Charge 165 credits' }).click();
    };
    await charge();
    await section.locator('.answer').getByText('no response').waitFor();
    await charge();
    assert.equal((await responseIn(page, 'createTask')).status, '200');
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
    assert.deepEqual(keys, [keys[0], keys[0]]);
    assert.equal(await balanceOf(accountId), 1_000 - 165);
  });

  test('that would be refused charge nothing and show why', async () => {
    const { accountId, key } = await service.newAccount(1_000);
    const { page } = await visitor.open();
    await page.goto(`${service.url}/docs/reference`);
    const section = await openForm(page, 'createTask');
    await page.getByLabel('API key').fill(key);
    await section.getByLabel('Body').fill('{"model": "videogen-2.0", "input": {"prompt": "x", "colour": 1}}');
    const { status, body } = await send(page, 'createTask');
    assert.equal(status, '422');
    assert.match(body, /input\.colour/);
    assert.equal(await balanceOf(accountId), 1_000);
  });

  test('send parameters, and files as they are', async () => {
    const { key } = await service.newAccount(1_000, ['tasks:write', 'tasks:read']);
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`${service.url}/docs/reference`);
    const list = await openForm(page, 'listTasks');
    await page.getByLabel('API key').fill(key);
    await list.getByLabel('limit').fill('0');
    assert.equal((await send(page, 'listTasks')).status, '422');
    await list.getByLabel('limit').fill('5');
    assert.equal((await send(page, 'listTasks')).status, '200');
    const upload = await openForm(page, 'uploadMedia');
    const image = { name: 'boat.png', mimeType: 'image/png', buffer: await plainImage(400, 400).png().toBuffer() };
    await upload.getByLabel('File', { exact: true }).setInputFiles(image);
    const { status, body } = await send(page, 'uploadMedia');
    assert.equal(status, '200');
    assert.match(body, /"url": "http/);
    assertClean(tab);
  });

  test('use the key of the tab also after a reload; another tab does not have it', async () => {
    const { key } = await service.newAccount(1_000);
    const { page, context } = await visitor.open();
    await page.goto(`${service.url}/docs/reference`);
    await openForm(page, 'getCredits');
    await page.getByLabel('API key').fill(key);
    await page.reload();
    await openForm(page, 'getCredits');
    assert.equal((await send(page, 'getCredits')).status, '200');
    assert.equal(await page.evaluate('Object.values(localStorage).join().includes("vg_")'), false);
    const other = await context.newPage();
    await other.goto(`${service.url}/docs/reference`);
    await openForm(other, 'getCredits');
    assert.equal(await other.getByLabel('API key').inputValue(), '');
  });

  test('use the session of a person who is signed in to the console, for the account of choice', async () => {
    const [first, second] = [await service.newAccount(111), await service.newAccount(222)];
    const tab = await visitor.signedIn({ [first.accountId]: 'owner', [second.accountId]: 'viewer' });
    const { page } = tab;
    await page.goto(`${service.url}/docs/reference`);
    const section = await openForm(page, 'getCredits');
    const choice = page.getByLabel('Send as');
    for (const [accountId, balance] of [
      [second.accountId, 222],
      [first.accountId, 111],
    ] as const) {
      await choice.selectOption(accountId);
      const { status, body } = await send(page, 'getCredits');
      assert.equal(status, '200');
      assert.match(body, new RegExp(`"balance": ${balance}`));
    }
    assert.equal(await section.getByLabel('API key').isVisible(), false);
    assertClean(tab);
  });

  test('to endpoints of operators and of the console use the session of an operator', async () => {
    const tab = await visitor.signedIn({}, { operator: true });
    const { page } = tab;
    await page.goto(`${service.url}/docs/reference/operators`);
    for (const operationId of ['adminListAccounts', 'getMe', 'healthz', 'consoleOptions']) {
      await openForm(page, operationId);
      if (operationId === 'adminListAccounts') await page.getByLabel('Send as').waitFor();
      assert.equal((await send(page, operationId)).status, '200', operationId);
    }
    assertClean(tab);
  });
});

describe('pages', { skip }, () => {
  test('the search finds endpoints and guides by words, and is used by keyboard alone', async () => {
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`${service.url}/docs`);
    await page.keyboard.press('/');
    await focused(page.getByLabel('Search the documentation'));
    await page.keyboard.type('cancel task');
    await page.locator('#results a').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/reference#cancelTask');
    await page.keyboard.press('/');
    await page.keyboard.type('standard webhook');
    const found = page.locator('#results').getByRole('link', { name: /Receive callbacks/ });
    await found.waitFor();
    await page.keyboard.press('ArrowDown');
    await focused(page.locator('#results a').first());
    await page.keyboard.press('Escape');
    await becomes('the results', () => page.locator('#results').isVisible(), false);
    await page.keyboard.type(' nowheretobefound');
    await page.getByText('No results.').waitFor();
    assertClean(tab);
  });

  test('the language of samples is chosen once, by keyboard too, and stays on every page', async () => {
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`${service.url}/docs/reference`);
    const section = sectionOf(page, 'listKeys');
    await section.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowLeft');
    await focused(section.getByRole('tab', { name: 'Python' }));
    assert.equal(await section.locator('pre', { hasText: 'import httpx' }).isVisible(), true);
    assert.equal(await section.locator('pre', { hasText: 'curl ' }).isVisible(), false);
    await page.goto(`${service.url}/docs`);
    assert.equal(await page.locator('pre', { hasText: 'from videogen_gateway' }).first().isVisible(), true);
    assert.equal(await page.getByRole('tab', { selected: true }).first().innerText(), 'Python');
    assertClean(tab);
  });

  test('a narrow window has the list of pages behind a button', async () => {
    const tab = await visitor.open(windows.narrow);
    const { page } = tab;
    await page.goto(`${service.url}/docs/reference`);
    const link = page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Guide' });
    assert.equal(await link.isVisible(), false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.waitFor();
    await page.keyboard.press('Escape');
    await becomes('the list of pages', () => link.isVisible(), false);
    await focused(page.getByRole('button', { name: 'Menu' }));
    assertClean(tab);
  });

  test('without JavaScript all samples can be read, and nothing is shown that would do nothing', async () => {
    const { page } = await visitor.open({ javaScriptEnabled: false });
    await page.goto(`${service.url}/docs/reference`);
    const section = sectionOf(page, 'createTask');
    for (const text of ['curl ', 'createClient', 'from videogen_gateway'])
      assert.equal(await section.locator('pre', { hasText: text }).isVisible(), true, text);
    for (const text of ['Try it', 'Copy']) assert.equal(await section.getByText(text).first().isVisible(), false, text);
  });

  test('no link of the reference leads to another host', async () => {
    const { page } = await visitor.open();
    for (const path of ['/docs/reference', '/docs/reference/operators']) {
      await page.goto(service.url + path);
      const links = await page.evaluate<string[]>('[...document.querySelectorAll("a[href]")].map(({ href }) => href)');
      assert.ok(links.length > 30);
      assert.deepEqual(
        links.filter((link) => !link.startsWith(`${service.url}/`)),
        [],
      );
    }
  });

  // Axe walks through a whole reference for many seconds. One template writes all endpoints, so outside `long` some stand for them.
  const leaveSome = `for (const article of document.querySelectorAll('article.operation:nth-of-type(n + 4)'))
  if (article.querySelector('#adminSetPrice') === null) article.remove();`;
  // Colors of the dark window are checked on the tokens by console/contrast.test.ts.
  for (const [name, options] of Object.entries(runsWholeMatrix ? windows : { light: windows.light })) {
    test(`are accessible, fit the window and follow the policy: ${name}`, async () => {
      const tab = await visitor.open(options);
      const paths = ['/docs', '/docs/api', '/docs/readme', '/docs/dialect-kie', '/docs/operations/runbooks'];
      for (const path of [...paths, '/docs/reference', '/docs/reference/operators']) {
        await tab.page.goto(service.url + path);
        await assertNoSidewaysScroll(tab.page, path);
        await tab.page.setViewportSize(windows.narrow.viewport);
        await assertNoSidewaysScroll(tab.page, `${path}, narrow`);
        await tab.page.setViewportSize(options.viewport);
        if (!runsWholeMatrix) await tab.page.evaluate(leaveSome);
        await assertAccessible(tab.page, path);
      }
      await openForm(tab.page, 'adminSetPrice');
      await assertAccessible(tab.page, 'an open form');
      assertClean(tab);
    });
  }

  test('are dark for a reader who prefers that, or chose it in the console', async () => {
    const background = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const [light, dark] = ['rgb(255, 255, 255)', 'rgb(15, 18, 22)'];
    const { page } = await visitor.open(windows.light);
    await page.goto(`${service.url}/docs/reference`);
    assert.equal(await background(page), light);
    await page.emulateMedia({ colorScheme: 'dark' });
    await becomes('the background', () => background(page), dark);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.evaluate('localStorage.setItem("videogen-theme", "dark")');
    await page.reload();
    assert.equal(await background(page), dark);
  });
});
