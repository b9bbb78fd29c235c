import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { invitePersonAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { urlOfLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { becomes, password, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

// A link of one use stays a good one until it is used, whatever else goes wrong.

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

async function linkFor(email: string): Promise<string> {
  const { accountId } = await service.newAccount(0);
  const by = { kind: 'command_line', name: 'ada' } as const;
  const link = await invitePersonAs(service.database.db, by, { email, isOperator: false, accountId, role: 'viewer' });
  assert.ok(link);
  return urlOfLink(service.url, link);
}

const unavailable = { code: 503, msg: 'the database is unavailable', error: 'database_unavailable', data: {} };

test('a link that is opened while the service is away works by the button, once it is back', { skip }, async () => {
  const { page } = await visitor.open();
  const answers = [
    (route) => route.fulfill({ status: 503, json: unavailable }),
    (route) => route.abort('connectionreset'),
  ] satisfies Parameters<typeof page.route>[1][];
  await page.route('**/api/console/v1/links/show', (route) => answers.shift()?.(route) ?? route.continue());
  await page.goto(await linkFor('dora@example.com'));
  await page.getByRole('alert').filter({ hasText: 'The service is recovering' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('alert').filter({ hasText: 'No connection' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'You are invited' }).waitFor();
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('a fresh link that is pasted over another one counts, and leaves the address', { skip }, async () => {
  const { page, errors } = await visitor.open();
  await page.goto(`${service.url}/console/invite#${'x'.repeat(43)}`);
  await page.getByRole('heading', { name: 'This link can’t be opened' }).waitFor();
  for (const email of ['erin@example.com', 'frank@example.com']) {
    await page.goto(await linkFor(email));
    await page.getByRole('heading', { name: 'You are invited' }).waitFor();
    await page.waitForFunction(`document.querySelector('input[type="email"]')?.value === '${email}'`);
    await becomes('the password', () => page.getByLabel('Password').inputValue(), '');
    await page.waitForURL((url) => url.hash === '');
    await page.getByLabel('Password').fill('of the one before');
  }
  // The link has left the address, but still works.
  await page.reload();
  await page.getByText('After a reload, open it again').waitFor();
  await page.goto(await linkFor('frank@example.com'));
  await page.getByRole('heading', { name: 'You are invited' }).waitFor();
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByRole('button', { name: 'frank@example.com' }).waitFor();
  assert.deepEqual(errors, []);
});
