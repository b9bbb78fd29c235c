import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Frame, Locator, Page } from 'playwright-core';
import { oidcCallbackPath } from '../../../src/api/sign-in/oidc-routes.ts';
import { createIdentityProvider, type IdentityProvider } from '../../../src/accounts/sign-in/identity-provider.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { invitePersonAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  becomes,
  settled,
  signIn,
  startVisitor,
  type Tab,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../../support/servers/oidc-server.ts';

// Signing in without a password, through the pages alone. Passkeys belong to a name, so the console is at localhost; the identity
// provider is at 127.0.0.1, which is another site.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
let provider: TestIdentityProvider;
let oidc: IdentityProvider | undefined;
let passwordSignIn = true;
beforeEach(() => {
  passwordSignIn = true;
});
const address = () => service.url.replace('127.0.0.1', 'localhost');
before(async () => {
  if (skip !== false) return;
  service = await startHttpService({
    console: {
      get publicUrl() {
        return address();
      },
      get passwordSignIn() {
        return passwordSignIn;
      },
      get oidc() {
        return oidc;
      },
    },
  });
  const redirectUri = address() + oidcCallbackPath;
  provider = await startIdentityProvider(redirectUri);
  oidc = createIdentityProvider({ ...provider, name: 'Acme' }, redirectUri);
  visitor = await startVisitor({ baseUrl: address(), database: service.database });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  provider.close();
  await service.close();
});

/** A device whose unlock succeeds or fails. */
async function attachDevice({ page, context }: Tab) {
  const devTools = await context.newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return {
    unlocks: (isUserVerified: boolean) =>
      devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
}

/** Adds a passkey in the settings, up to the prompt of the device. Returns the dialog. */
async function addPasskey(page: Page, accountId: string, name: string): Promise<Locator> {
  await page.goto(`${address()}/console/a/${accountId}/security`);
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  return dialog;
}

async function signOut(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: email }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  // After a sign-out the next sign-in does not return to this page.
  await page.waitForURL((url) => url.search === '');
}

async function newAccountId(): Promise<string> {
  return (await service.newAccount(1_000)).accountId;
}

test('a passkey is added in the settings, signs in, confirms an action, and is removed', { skip }, async () => {
  const accountId = await newAccountId();
  const tab = await visitor.signedIn({ [accountId]: 'owner' });
  const { page, email, errors } = tab;
  const device = await attachDevice(tab);
  await device.unlocks(false);
  const dialog = await addPasskey(page, accountId, 'work laptop');
  await dialog.getByRole('alert').filter({ hasText: 'dialog was closed' }).waitFor();
  await device.unlocks(true);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  const row = page.getByRole('table', { name: 'Your passkeys' }).getByRole('row', { name: /work laptop/ });
  await row.getByText('Never').waitFor();
  await assertAccessible(page, 'settings with a passkey');

  await signOut(page, email);
  await device.unlocks(false);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').filter({ hasText: 'no passkey was used' }).waitFor();
  await assertAccessible(page, 'a passkey that was refused');
  await device.unlocks(true);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();

  await ageProofs();
  await page.goto(`${address()}/console/a/${accountId}/security`);
  await page.getByRole('button', { name: 'Remove work laptop' }).click();
  await page.getByRole('button', { name: 'Remove passkey' }).click();
  await page
    .getByRole('dialog', { name: 'Confirm your identity' })
    .getByRole('button', { name: 'Use a passkey' })
    .click();
  await page.getByText('No passkeys yet').waitFor();
  assert.deepEqual(errors, []);
});

/** Makes the proofs of all sessions an hour old. */
function ageProofs() {
  const text = `update sessions set authenticated_at = now() - interval '1 hour'`;
  return service.database.db.run({ name: 'test-age-proofs', text });
}

test(
  'another person’s passkey confirms nothing: the action is not done, and the page is that person’s',
  { skip },
  async () => {
    const accountId = await newAccountId();
    const other = await visitor.signedIn({ [accountId]: 'owner' });
    const { page, errors } = other;
    const device = await attachDevice(other);
    await device.unlocks(true);
    await addPasskey(page, accountId, 'shared laptop');
    const passkeys = page.getByRole('table', { name: 'Your passkeys' });
    await passkeys.getByRole('row', { name: /shared laptop/ }).waitFor();
    await signOut(page, other.email);
    const email = await visitor.newPerson({ [accountId]: 'owner' });
    await signIn(page, email);
    await page.getByRole('button', { name: email }).waitFor();

    await ageProofs();
    await page.goto(`${address()}/console/a/${accountId}/settings`);
    await page.getByRole('button', { name: 'Close account' }).click();
    const closing = page.getByRole('dialog', { name: 'Close test for good?' });
    await closing.getByRole('textbox').fill('test');
    await page.keyboard.press('Enter');
    const proof = page.getByRole('dialog', { name: 'Confirm your identity' });
    await proof.getByRole('button', { name: 'Use a passkey' }).click();
    // The dialog of the action, which stays open, shows the message as well.
    await page.getByRole('status').getByText(`${other.email} is signed in now`).last().waitFor();
    assert.equal((await findAccount(service.database.db, accountId))?.closedAt, undefined);
    await page.getByRole('button', { name: other.email }).waitFor();
    assert.deepEqual(errors, []);
  },
);

/** Goes to the identity provider as this person, from the button of the sign-in. */
async function continueAs(person: TestIdentityProvider['person'], next = ''): Promise<Tab> {
  provider.person = person;
  const tab = await visitor.open();
  await tab.page.goto(`${address()}/console${next}`);
  await visitProvider(tab.page, tab.page.getByRole('link', { name: 'Continue with Acme' }));
  return tab;
}

/** Follows a link to the identity provider, until it has led back to one of our pages, which may have the address of before. */
async function visitProvider(page: Page, link: Locator): Promise<void> {
  const isBack = (frame: Frame) => {
    const { host, pathname } = new URL(frame.url());
    return host === new URL(address()).host && !pathname.includes('/oidc/');
  };
  await Promise.all([page.waitForEvent('framenavigated', isBack), link.click()]);
}

const shell = { kind: 'command_line', name: 'ada' } as const;

test('an invited user signs in through the identity provider, with the role of the invitation', { skip }, async () => {
  const accountId = await newAccountId();
  const email = 'grace@example.com';
  await invitePersonAs(service.database.db, shell, { email, isOperator: false, accountId, role: 'viewer' });
  const { page, errors } = await continueAs({ sub: 'grace-1', email, email_verified: true });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.waitForURL(`**/a/${accountId}`);
  await page.goto(`${address()}/console/a/${accountId}/playground`);
  await page.getByText('Viewers of this account cannot do this').first().waitFor();
  await signOut(page, email);
  await page.getByRole('link', { name: 'Continue with Acme' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  assert.deepEqual(errors, []);
});

test('a user confirms at the identity provider, returns to the page, and repeats the action', { skip }, async () => {
  const accountId = await newAccountId();
  const email = 'edith@example.com';
  await invitePersonAs(service.database.db, shell, { email, isOperator: false, accountId, role: 'owner' });
  const { page, errors } = await continueAs({ sub: 'edith-1', email, email_verified: true });
  await page.getByRole('button', { name: email }).waitFor();
  for (const isOn of [true, false]) {
    passwordSignIn = isOn;
    await ageProofs();
    await page.goto(`${address()}/console/a/${accountId}/settings?tab=data`);
    await page.getByRole('button', { name: 'Export data' }).click();
    const proof = page.getByRole('dialog', { name: 'Confirm your identity' });
    await proof.getByText('With Acme you leave this page').waitFor();
    const [fields, buttons] = [
      proof.getByLabel('Password'),
      proof.getByRole('button', { name: 'Confirm', exact: true }),
    ];
    const counts = async () => [await fields.count(), await buttons.count()];
    await becomes('the fields for a password', counts, isOn ? [1, 1] : [0, 0]);
    await assertAccessible(page, 'the dialog that asks for a confirmation');
    await visitProvider(page, proof.getByRole('link', { name: 'Confirm with Acme' }));
    await page.waitForURL(`${address()}/console/a/${accountId}/settings?tab=data`);
    await settled(page);
    assert.equal(await page.getByRole('dialog').count(), 0, 'the action is not repeated automatically');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export data' }).click();
    assert.equal((await saved).suggestedFilename(), 'account.jsonl');
  }
  assert.deepEqual(errors, []);
});

test(
  'a user who is another person at the identity provider gets a message, and goes back to the page',
  { skip },
  async () => {
    const accountId = await newAccountId();
    const { page, errors } = await visitor.signedIn({ [accountId]: 'owner' });
    provider.person = { sub: 'mallory-1', email: 'mallory@example.com', email_verified: true };
    await ageProofs();
    const settings = `${address()}/console/a/${accountId}/settings`;
    await page.goto(settings);
    await page.getByRole('button', { name: 'Export data' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Confirm with Acme' }).click();
    await page.getByRole('heading', { name: 'Not confirmed' }).waitFor();
    await page.getByRole('alert').filter({ hasText: 'did not confirm your identity' }).waitFor();
    await assertAccessible(page, 'a proof that failed');
    await page.getByRole('link', { name: 'Go back to the page' }).click();
    await page.waitForURL(settings);
    await page.getByRole('button', { name: 'Export data' }).waitFor();
    assert.deepEqual(errors, []);
  },
);

test('a sign-in at the identity provider leads to the requested page', { skip }, async () => {
  const accountId = await newAccountId();
  const email = 'hedy@example.com';
  await invitePersonAs(service.database.db, shell, { email, isOperator: false, accountId, role: 'viewer' });
  const person = { sub: 'hedy-1', email, email_verified: true };
  const { page } = await continueAs(person, `/a/${accountId}/tasks?state=failed`);
  await page.waitForURL(`${address()}/console/a/${accountId}/tasks?state=failed`);
});

test('a user without an invitation returns to the sign-in with a message', { skip }, async () => {
  const { page, errors } = await continueAs({ sub: 'eve', email: 'eve@example.com', email_verified: true });
  await page.getByRole('alert').filter({ hasText: 'You don’t have an invitation yet' }).waitFor();
  await assertAccessible(page, 'a sign-in that was refused');
  await page.goto(`${address()}/console`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.deepEqual(errors, []);
});

test('an unavailable identity provider is named, and the other ways to sign in stay', { skip }, async () => {
  const working = oidc;
  const settings = { issuer: 'http://127.0.0.1:1', clientId: 'x', clientSecret: 'y', name: 'Acme' };
  oidc = createIdentityProvider(settings, address() + oidcCallbackPath);
  try {
    const { page } = await visitor.open();
    await page.goto(`${address()}/console/sign-in`);
    await page.getByRole('link', { name: 'Continue with Acme' }).click();
    await page.getByRole('alert').filter({ hasText: 'Your identity provider did not respond' }).waitFor();
    await page.getByLabel('Password').waitFor();
    await settled(page);
  } finally {
    oidc = working;
  }
});
