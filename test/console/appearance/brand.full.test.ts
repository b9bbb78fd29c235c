import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import sharp from 'sharp';
import { findAccount, setAccountSuspendedAs } from '../../../src/accounts/accounts.ts';
import { parseAccentIntoShades } from '../../../src/platform/brand/accent.ts';
import type { Brand } from '../../../src/platform/brand/brand.ts';
import { setProviderSwitchAs } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  focused,
  settled,
  startVisitor,
  type Visitor,
  windows,
} from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { shell } from '../../support/service/person.ts';

// A service under another name: what its customers see before and after they sign in, the banners, and the settings that are split
// into those of a person and those of an account.

const skip = skipWithoutBrowser();

const support = 'https://harbour.example/help';
const buyCredits = 'https://harbour.example/buy';

let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#0f766e' } })
    .png()
    .toBuffer();
  const brand: Brand = {
    name: 'Harbour & Film',
    logo: { type: 'image/png', bytes, version: '1' },
    accent: parseAccentIntoShades('#0f766e'),
    support,
    terms: 'https://harbour.example/terms',
    privacy: 'https://harbour.example/privacy',
    buyCredits,
  };
  const createRate = { quota: 20, windowMs: 10_000 };
  const reads = createRateLimiter({ quota: 10_000, windowMs: 10_000 });
  service = await startHttpService({ brand, createRate, reads, consoleMediaOrigins: ['http://media.test'] });
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

test('the sign-in page and the documentation have the name, the logo, the color and the links', { skip }, async () => {
  const { page, errors, foreign, open } = await visitor.open();
  for (const [name, { viewport, colorScheme }] of Object.entries(windows)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await open('/sign-in');
    await assertAccessible(page, `sign-in, ${name}`);
    await assertNoSidewaysScroll(page, `sign-in, ${name}`);
  }
  assert.equal(await page.title(), 'Sign in · Harbour & Film');
  const links = page.getByRole('navigation', { name: 'About this service' });
  assert.equal(await links.getByRole('link', { name: 'Contact support' }).getAttribute('href'), support);
  assert.equal(await links.getByRole('link').count(), 3);
  const width = () => page.evaluate<number>(`document.querySelector('img.brand-mark').naturalWidth`);
  await becomes('the logo', width, 64);
  const color = await page.evaluate<string>(
    `getComputedStyle(document.querySelector('button.primary')).backgroundColor`,
  );
  assert.equal(color, 'rgb(15, 118, 110)');
  await page.setViewportSize(windows.light.viewport);
  await page.goto(`${service.url}/docs`);
  await assertAccessible(page, 'documentation');
  assert.match(await page.getByRole('link', { name: /Harbour & Film Docs/ }).innerText(), /Harbour/);
  assert.deepEqual([errors, foreign], [[], []]);
});

test(
  'banners: low balance with a way to buy, trouble with models, and a suspension with its reason',
  { skip },
  async () => {
    const { db } = service.database;
    const { accountId } = await service.newAccount(40);
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
    await open(`/a/${accountId}/credits`);
    const warnBelow = async (credits: string) => {
      const read = page.waitForResponse('**/api/v1/status');
      await page.getByLabel('Warn below').fill(credits);
      await page.getByRole('button', { name: 'Save warning' }).click();
      await read;
    };
    await warnBelow('100');
    const banners = page.getByRole('status').filter({ hasText: /Your balance is low: 40\scredits left\./ });
    await banners.waitFor();
    assert.equal(await banners.getByRole('link', { name: 'Buy credits' }).getAttribute('href'), buyCredits);
    await banners.getByRole('button', { name: 'Dismiss' }).press('Enter');
    await page.getByText('Your balance is low').waitFor({ state: 'detached' });
    await focused(page.getByRole('main'));
    // The balance is high, and then low again, which is another warning.
    await warnBelow('10');
    await warnBelow('100');
    await banners.getByRole('button', { name: 'Dismiss' }).press('Enter');
    await page.getByText('Your balance is low').waitFor({ state: 'detached' });

    await setProviderSwitchAs(db, shell, { provider: 'preview', state: 'draining', reason: 'the cellar is wet' });
    await setAccountSuspendedAs(db, shell, { accountId, suspended: true, reason: 'Unpaid invoice 7' });
    await page.reload();
    await page
      .getByText(/video generation are temporarily unavailable\. Tasks wait, and start automatically once/)
      .waitFor();
    const suspended = page.getByRole('status').filter({ hasText: 'This account is suspended' });
    assert.match(await suspended.innerText(), /Reason: Unpaid invoice 7/);
    assert.equal(await suspended.getByRole('link', { name: /Contact support/ }).getAttribute('href'), support);
    assert.equal(await page.getByText('Your balance is low').count(), 0, 'a dismissed banner stays away');
    assert.doesNotMatch(await page.locator('body').innerText(), /cellar|preview/);
    await assertAccessible(page, 'banners');
    await page.setViewportSize(windows.narrow.viewport);
    await assertNoSidewaysScroll(page, 'banners');
    await open(`/a/${accountId}/playground`);
    const buy = page.locator('.generate').getByRole('link', { name: 'Buy credits' });
    assert.equal(await buy.getAttribute('href'), buyCredits);
    assert.deepEqual(errors, []);
    await setProviderSwitchAs(db, shell, { provider: 'preview', state: 'enabled', reason: 'it is dry' });
  },
);

test('an owner renames the account with the keyboard; everyone sees the name', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/settings`);
  await assertAccessible(page, 'settings');
  const name = page.getByLabel('Account name');
  await name.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('   ');
  await page.keyboard.press('Enter');
  await page.getByText('must be 1 to 200 characters, and plain text').waitFor();
  await focused(name);
  await name.fill('Pier 4 Studio');
  await page.keyboard.press('Enter');
  await page.getByText('Name saved').waitFor();
  await page.getByRole('button', { name: /^Account: Pier 4 Studio/ }).waitFor();
  assert.equal((await findAccount(service.database.db, accountId))?.name, 'Pier 4 Studio');
  await open(`/a/${accountId}/members`);
  await page.getByRole('cell', { name: 'Account renamed' }).waitFor();
  assert.deepEqual(errors, []);
});

test(
  'limits show what is used and left, to every member; personal pages have addresses of their own',
  { skip },
  async () => {
    const { accountId, key } = await service.newAccount(1_000);
    const request = { model: 'videogen-2.0-fast', input: { prompt: 'a pier', duration: 4 } };
    assert.equal((await service.create(key, request)).status, 200);
    const { page, errors, email, open } = await visitor.signedIn({ [accountId]: 'viewer' }, windows.narrow);
    await open(`/a/${accountId}/limits`);
    const row = (text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text });
    await row('Unfinished tasks').getByText('1 of 1,000').waitFor();
    await row('New tasks').getByText('20 per 10 s').waitFor();
    await row('Uploaded files').getByText('0 of 500').waitFor();
    await row('Active API keys').getByText('1 of 100').waitFor();
    await page.getByText('Deleted after 14 days').waitFor();
    await assertAccessible(page, 'limits');
    await assertNoSidewaysScroll(page, 'limits');

    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('button', { name: email }).click();
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    await page.getByRole('table', { name: 'Your accounts' }).getByText('Viewer').waitFor();
    await assertAccessible(page, 'profile');
    await assertNoSidewaysScroll(page, 'profile');
    const tabs = page.getByRole('navigation', { name: 'Your settings' });
    await tabs.getByRole('link', { name: 'Security' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await settled(page);
    await becomes('the address', async () => new URL(page.url()).pathname, `/console/a/${accountId}/security`);
    await assertNoSidewaysScroll(page, 'security');
    assert.deepEqual(errors, []);
  },
);
