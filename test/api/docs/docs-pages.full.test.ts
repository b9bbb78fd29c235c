import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  focused,
  startVisitor,
  type Tab,
  type Visitor,
  windows,
} from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { runsWholeMatrix } from '../../support/tier.ts';

const skip = skipWithoutBrowser();
let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  visitor = await startVisitor({ baseUrl: service.url, database: service.database });
});
afterEach(() => skip === false && visitor.closeTabs());
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

/** The part of a page that shows an endpoint. */
const sectionOf = (page: Page, operationId: string) =>
  page.locator('article.operation', { has: page.locator(`#${operationId}`) });

function assertClean({ errors, foreign }: Tab): void {
  assert.deepEqual(errors, []);
  assert.deepEqual(foreign, []);
}

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
    assert.equal(await section.getByText('Copy').first().isVisible(), false);
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
  const leaveSome = `for (const article of document.querySelectorAll('article.operation:nth-of-type(n + 4)')) article.remove();`;
  // Colors of the dark window are checked on the tokens by contrast.test.ts.
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
