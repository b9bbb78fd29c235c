import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  setUserDisabledAs,
  invitePersonAs,
  createResetLinkAs,
} from '../../../src/accounts/people/change-users-as-operator.ts';
import { findLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { findMembership } from '../../../src/accounts/people/memberships.ts';
import { signInWithIdentity } from '../../../src/credits/sign-up/sign-in-with-identity.ts';
import { addPasskey, listPasskeys } from '../../../src/accounts/sign-in/passkey-rows.ts';
import {
  acceptLinkAndSignIn,
  SignInProofOutdatedError,
  signInWithVerifiedProof as signInAs,
} from '../../../src/accounts/sign-in/sign-in.ts';
import { holdAt, settledOrBlocked } from '../../support/database/held-statement.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import {
  type Browser,
  goodPassword,
  newBrowser,
  newPerson,
  origin,
  shell,
  signIn,
} from '../../support/service/person.ts';

// Credentials are verified before the transaction that they authorize. Here something happens in between, or two sign-ins race.

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const newPassword = 'another good password';

type During = {
  readonly ask: (browser: Browser) => Promise<Answer>;
  readonly meanwhile: () => Promise<unknown>;
  readonly cookie?: string | undefined;
  /** The statement at which the request stops: by default after the password was verified. */
  readonly at?: string;
};

/** Stops a request until `meanwhile` has ended or waits for the request; returns the answer and the browser. */
async function interrupted({ ask, meanwhile, cookie, at = 'succeed-sign-in-try' }: During) {
  const { database, deps } = service;
  const held = holdAt(database.db, at);
  const own = await startHttpService({ database, db: held.db, console: deps.console });
  try {
    const browser = newBrowser(own, cookie);
    const answer = ask(browser);
    await held.arrived;
    const other = meanwhile();
    await settledOrBlocked(database.db, other);
    held.go();
    await other;
    return { answer: await answer, browser };
  } finally {
    await own.close();
  }
}

const me = (browser: Browser) => browser.ask('GET', '/api/console/v1/me');

async function reset(email: string): Promise<void> {
  const link = await createResetLinkAs(service.database.db, shell, email);
  const body = { token: link?.token, password: newPassword };
  const { status, json } = await newBrowser(service).ask('POST', '/api/console/v1/links/accept', { body });
  assert.equal(status, 200, json.msg);
}

const change = (browser: Browser, to: string) =>
  browser.ask('POST', '/api/console/v1/password', { body: { currentPassword: goodPassword, newPassword: to } });

const assertFailed = ({ status, json }: Answer) => assert.deepEqual([status, json.error], [401, 'sign_in_failed']);

test('a password that was correct before a reset does not sign in after it', async () => {
  const { email } = await newPerson(service);
  const { answer, browser } = await interrupted({ ask: (one) => signIn(one, email), meanwhile: () => reset(email) });
  assertFailed(answer);
  assert.equal(browser.cookie(), undefined);
});

test('a session that begins with the old password does not outlive a reset', async () => {
  const { email } = await newPerson(service);
  const { browser } = await interrupted({
    ask: (one) => signIn(one, email),
    meanwhile: () => reset(email),
    at: 'create-session',
  });
  assert.equal((await me(newBrowser(service, browser.cookie()))).status, 401);
});

test('a person who is disabled after the check of their password is not signed in, also after being enabled', async () => {
  const { email, userId } = await newPerson(service);
  const { db } = service.database;
  const { answer } = await interrupted({
    ask: (one) => signIn(one, email),
    meanwhile: () => setUserDisabledAs(db, shell, { email }, true),
  });
  assertFailed(answer);
  await setUserDisabledAs(db, shell, { email }, false);
  const text = 'select from sessions where user_id = $1';
  assert.deepEqual(await db.run({ name: 'test-sessions-of', text }, [userId]), []);
});

test('a password that was correct before its change does not authenticate after it, nor change to a third one', async () => {
  for (const [what, ask] of [
    [
      'reauthenticate',
      (one: Browser) => one.ask('POST', '/api/console/v1/reauthenticate', { body: { password: goodPassword } }),
    ],
    ['password', (one: Browser) => change(one, 'a third good password')],
  ] as const) {
    const person = await newPerson(service);
    // The same session: it goes on with a new secret.
    const meanwhile = () => change(person, newPassword);
    const { answer } = await interrupted({ ask, meanwhile, cookie: person.cookie() });
    assertFailed(answer);
    assert.equal((await me(person)).status, 200, what);
    assert.equal((await signIn(newBrowser(service), person.email, newPassword)).status, 200, what);
  }
});

test('a session that ended meanwhile does not change the password', async () => {
  const person = await newPerson(service);
  const { email } = person;
  const other = newBrowser(service);
  await signIn(other, email);
  const { answer } = await interrupted({
    ask: (one) => change(one, newPassword),
    meanwhile: () => other.ask('POST', '/api/console/v1/sessions/end-others'),
    cookie: person.cookie(),
  });
  assert.deepEqual([answer.status, answer.json.error], [401, 'not_signed_in']);
  assert.equal((await signIn(newBrowser(service), email, newPassword)).status, 401);
  assert.equal((await signIn(newBrowser(service), email)).status, 200);
  assert.equal((await me(other)).status, 200, 'and does not end the others');
});

const passkeyOf = (credentialId: string) => ({
  name: 'laptop',
  credential: { credentialId, publicKey: Buffer.from('key'), counter: 0, transports: [] },
  origin,
});

test('a passkey that was verified before a reset does not sign in after it', async () => {
  const { db } = service.database;
  const person = await newPerson(service);
  const added = await addPasskey(db, person, passkeyOf('verified'));
  assert.ok(typeof added === 'object');
  await reset(person.email);
  const { passkeyId } = added;
  await assert.rejects(
    signInAs(db, { user: person, origin, means: 'passkey', passkeyId, counter: 1 }),
    SignInProofOutdatedError,
  );
});

test('a passkey that was created before a reset is not added after it', async () => {
  const { db } = service.database;
  const person = await newPerson(service);
  await reset(person.email);
  assert.equal(await addPasskey(db, person, passkeyOf('late')), 'not_signed_in');
  assert.deepEqual(await listPasskeys(db, person.userId), []);
});

test('an invitation is not accepted with the password from before a reset, and stays open', async () => {
  const { db } = service.database;
  const { email, userId } = await newPerson(service);
  const accountId = await createAccount(db, { name: 'a', credits: 0 });
  const link = await invitePersonAs(db, shell, { email, isOperator: true, accountId, role: 'owner' });
  assert.ok(link);
  const body = { token: link.token, password: goodPassword };
  const { answer } = await interrupted({
    ask: (one) => one.ask('POST', '/api/console/v1/links/accept', { body }),
    meanwhile: () => reset(email),
  });
  assertFailed(answer);
  assert.equal(await findMembership(db, accountId, userId), undefined);
  assert.ok(await findLink(db, link.token));
});

for (const whose of ['an invited person', 'a known person'] as const) {
  test(`concurrent first visits of ${whose} both sign in`, async () => {
    const { db } = service.database;
    const isNew = whose === 'an invited person';
    const email = isNew ? 'frank@example.com' : (await newPerson(service)).email;
    if (isNew) await invitePersonAs(db, shell, { email, isOperator: true });
    const identity = { issuer: 'https://id.example.com', subject: email, email };
    const held = holdAt(db, 'create-oidc-identity');
    const first = signInWithIdentity(held.db, identity, { origin });
    await held.arrived;
    const second = signInWithIdentity(db, identity, { origin });
    await settledOrBlocked(db, second);
    held.go();
    const [one, other] = await Promise.all([first, second]);
    assert.ok(one && other);
    assert.equal(one.session.userId, other.session.userId);
  });
}

test('a link and the identity provider may open a new address concurrently', async () => {
  const { db } = service.database;
  const email = 'grace@example.com';
  const made = await invitePersonAs(db, shell, { email, isOperator: true });
  const link = made && (await findLink(db, made.token));
  assert.ok(link);
  const held = holdAt(db, 'create-user');
  const byLink = acceptLinkAndSignIn(held.db, { link, email, passwordHash: 'x', origin });
  await held.arrived;
  const identity = { issuer: 'https://id.example.com', subject: email, email };
  const byIdentity = signInWithIdentity(db, identity, { origin });
  await settledOrBlocked(db, byIdentity);
  held.go();
  const [one, other] = await Promise.all([byLink, byIdentity]);
  assert.ok(one && other);
  assert.equal(one.session.userId, other.session.userId);
});

test('a member signs in through the identity provider while their account is closed', async () => {
  const { db } = service.database;
  const accountId = await createAccount(db, { name: 'a', credits: 0 });
  const { email } = await newPerson(service, { roles: { [accountId]: 'viewer' } });
  await invitePersonAs(db, shell, { email, isOperator: false, accountId, role: 'owner' });
  const held = holdAt(db, 'close-account');
  const closure = closeAccountAs(held.db, shell, { accountId, reason: 'a test' });
  await held.arrived;
  const visit = signInWithIdentity(db, { issuer: 'https://id.example.com', subject: email, email }, { origin });
  await settledOrBlocked(db, visit);
  held.go();
  await closure;
  assert.ok(await visit);
});
