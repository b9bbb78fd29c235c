import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { SignUpPolicy } from '../../../src/credits/sign-up/request-sign-up.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { password, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

const skip = skipWithoutBrowser();
const signUp: SignUpPolicy = {
  mode: 'open',
  domains: [],
  credits: 50,
  secrets: ['s'],
  hourlyLimit: 100,
  hourlyLimitPerAddress: 100,
};

let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService({ signUp });
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

test(
  'a customer signs up from the sign-in page, an operator delivers the link, and it opens the account',
  { skip },
  async () => {
    const customer = await visitor.open();
    await customer.page.goto(`${service.url}/console/sign-in`);
    await customer.page.getByRole('link', { name: 'Create an account' }).click();
    await customer.page.getByLabel('E-mail').fill('ann@example.com');
    await customer.page.getByRole('button', { name: 'Send link' }).click();
    await customer.page.getByText('If ann@example.com can sign up, a link is on its way').waitFor();

    const operator = await visitor.signedIn({}, { operator: true });
    await operator.open('/ops/people');
    await operator.page.getByRole('button', { name: 'Create a sign-up link for ann@example.com' }).click();
    await operator.page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
    const link = await operator.page.locator('.secret code').textContent();
    assert.match(link ?? '', /\/console\/confirm#[\w-]{43}$/);

    await customer.page.goto(link ?? '');
    await customer.page.getByRole('heading', { name: 'Create your account' }).waitFor();
    await customer.page.getByLabel('Account name').fill('Harbor Films');
    await customer.page.getByLabel('Password').fill(password);
    await customer.page.getByRole('button', { name: 'Create account' }).click();
    await customer.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await customer.page.getByText('Harbor Films').first().waitFor();
    assert.deepEqual([customer.errors, operator.errors], [[], []]);
  },
);

test('refusals are shown next to the form, and a service without sign-up says so', { skip }, async () => {
  const { page } = await visitor.open();
  const refusal = {
    code: 429,
    msg: 'too many people sign up; try again in an hour',
    error: 'too_many_sign_ups',
    data: {},
  };
  await page.route('**/api/console/v1/sign-up', (route) => route.fulfill({ status: 429, json: refusal }), { times: 1 });
  await page.goto(`${service.url}/console/sign-up`);
  await page.getByLabel('E-mail').fill('bob@example.com');
  await page.getByRole('button', { name: 'Send link' }).click();
  await page.getByRole('alert').filter({ hasText: 'Too many people sign up' }).waitFor();
  await page.getByRole('button', { name: 'Send link' }).click();
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  const options = { passwordSignIn: true, passkeys: false, oidc: null, signUp: 'off', needsSetUp: false };
  await page.route('**/api/console/v1/options', (route) =>
    route.fulfill({ json: { code: 200, msg: 'success', data: options } }),
  );
  await page.goto(`${service.url}/console/sign-up`);
  await page.getByRole('heading', { name: 'Sign-up is not available' }).waitFor();
});
