import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { signIn, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

// A session that ends while its pages are open.

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

const endSessions = () => service.database.db.run({ name: 'end-all-sessions', text: 'delete from sessions' });

async function open(path: (accountId: string) => string) {
  const accountId = await createAccount(service.database.db, { name: 'Northlight Studio', credits: 1_000 });
  const tab = await visitor.signedIn({ [accountId]: 'owner' }, { operator: true });
  await tab.page.clock.install();
  await tab.open(path(accountId));
  return tab;
}

test('who sends a change after the session ended is led to the sign-in, and back to the page', { skip }, async () => {
  const { page, email } = await open(() => '/ops/accounts');
  await endSessions();
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Harbour Films');
  await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.waitForURL((url) => url.searchParams.get('next') === '/ops/accounts');
  await signIn(page, email);
  await page.waitForURL(`${service.url}/console/ops/accounts`);
});

test('who signs out after the session ended is signed out', { skip }, async () => {
  const { page } = await open(() => '/ops/accounts');
  await endSessions();
  await page.getByRole('button', { name: /^You: / }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.equal(await page.getByRole('status').getByText('Sign in').count(), 0);
});

test('a reading that was sent before the cookie was renewed signs nobody out', { skip }, async () => {
  const { page, errors } = await open((id) => `/a/${id}/credits`);
  const envelope = { code: 401, msg: 'sign in first', error: 'not_signed_in', data: {} };
  let refused: string | undefined;
  await page.route('**/api/v1/credits?*', (route) => {
    if (refused !== undefined) return route.continue();
    refused = route.request().url();
    return route.fulfill({ status: 401, json: envelope });
  });
  const again = page.waitForResponse((response) => response.url() === refused && response.ok());
  // The page reads every 15 s.
  await page.clock.fastForward(16_000);
  await again;
  await page.getByRole('heading', { name: 'Credits' }).waitFor();
  assert.equal(new URL(page.url()).pathname.endsWith('/credits'), true);
  assert.deepEqual(errors, []);
});
