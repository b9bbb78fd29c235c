import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../../src/stores/accounts.ts';
import { inviteAs, resetAs } from '../../../../src/stores/invite.ts';
import { findLink } from '../../../../src/stores/one-time-links.ts';
import { disableAs } from '../../../../src/stores/people.ts';
import { findMembership } from '../../../../src/stores/memberships.ts';
import { addPasskey, listPasskeys } from '../../../../src/stores/passkeys.ts';
import { ProofOutdated, signIn as signInAs } from '../../../../src/stores/sign-in.ts';
import { holdAt, settledOrBlocked } from '../../../support/held-statement.ts';
import type { Answer } from '../../../support/http-client.ts';
import { type HttpService, startHttpService } from '../../../support/http-service.ts';
import { type Browser, goodPassword, newBrowser, newPerson, signIn } from '../../../support/person.ts';

// A password or passkey is checked before the transaction in which it counts. What happens between the two decides.

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const shell = { kind: 'command_line', name: 'ada' } as const;
const newPassword = 'another good password';

type During = {
  readonly ask: (browser: Browser) => Promise<Answer>;
  readonly meanwhile: () => Promise<unknown>;
  readonly cookie?: string | undefined;
  /** Where the request is stopped: by default when the password was found to be right. */
  readonly at?: string;
};

/** The answer to a request, and its browser; it was stopped on its way until something else had happened, or waits for it. */
async function asked({ ask, meanwhile, cookie, at = 'succeed-sign-in-try' }: During) {
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

/** Somebody with the link of a reset chooses a new password. */
async function reset(email: string): Promise<void> {
  const link = await resetAs(service.database.db, shell, email);
  const body = { token: link?.token, password: newPassword };
  const { status, json } = await newBrowser(service).ask('POST', '/api/console/v1/links/accept', { body });
  assert.equal(status, 200, json.msg);
}

const change = (browser: Browser, to: string) =>
  browser.ask('POST', '/api/console/v1/password', { body: { currentPassword: goodPassword, newPassword: to } });

const assertFailed = ({ status, json }: Answer) => assert.deepEqual([status, json.error], [401, 'sign_in_failed']);

test('a password that was right before a reset signs nobody in after it', async () => {
  const { email } = await newPerson(service);
  const { answer, browser } = await asked({ ask: (one) => signIn(one, email), meanwhile: () => reset(email) });
  assertFailed(answer);
  assert.equal(browser.cookie(), undefined);
});

test('a session that is being made with the password of before does not outlive a reset', async () => {
  const { email } = await newPerson(service);
  const { browser } = await asked({
    ask: (one) => signIn(one, email),
    meanwhile: () => reset(email),
    at: 'create-session',
  });
  assert.equal((await me(newBrowser(service, browser.cookie()))).status, 401);
});

test('somebody who is disabled after their password was checked is not signed in, nor when they are let in again', async () => {
  const { email, userId } = await newPerson(service);
  const { db } = service.database;
  const { answer } = await asked({
    ask: (one) => signIn(one, email),
    meanwhile: () => disableAs(db, shell, { email }, true),
  });
  assertFailed(answer);
  await disableAs(db, shell, { email }, false);
  const text = 'select from sessions where user_id = $1';
  assert.deepEqual(await db.run({ name: 'test-sessions-of', text }, [userId]), []);
});

test('a password that was right before it was changed proves nothing after it, and is not changed to a third one', async () => {
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
    const { answer } = await asked({ ask, meanwhile, cookie: person.cookie() });
    assertFailed(answer);
    assert.equal((await me(person)).status, 200, what);
    assert.equal((await signIn(newBrowser(service), person.email, newPassword)).status, 200, what);
  }
});

test('a password is not changed by a session that has ended meanwhile', async () => {
  const person = await newPerson(service);
  const { email } = person;
  const other = newBrowser(service);
  await signIn(other, email);
  const { answer } = await asked({
    ask: (one) => change(one, newPassword),
    meanwhile: () => other.ask('POST', '/api/console/v1/sessions/end-others'),
    cookie: person.cookie(),
  });
  assert.deepEqual([answer.status, answer.json.error], [401, 'not_signed_in']);
  assert.equal((await signIn(newBrowser(service), email, newPassword)).status, 401);
  assert.equal((await signIn(newBrowser(service), email)).status, 200);
  assert.equal((await me(other)).status, 200, 'nor does it end the others');
});

const passkeyOf = (credentialId: string) => ({
  name: 'laptop',
  credential: { credentialId, publicKey: Buffer.from('key'), counter: 0, transports: [] },
  origin: { address: '192.0.2.1', userAgent: 'test' },
});

test('a passkey that was verified before a reset signs nobody in after it', async () => {
  const { db } = service.database;
  const person = await newPerson(service);
  const added = await addPasskey(db, person, passkeyOf('verified'));
  assert.ok(typeof added === 'object');
  await reset(person.email);
  const { passkeyId } = added;
  const { origin } = passkeyOf('verified');
  await assert.rejects(signInAs(db, { user: person, origin, means: 'passkey', passkeyId, counter: 1 }), ProofOutdated);
});

test('a passkey that was made before a reset is not added after it', async () => {
  const { db } = service.database;
  const person = await newPerson(service);
  await reset(person.email);
  assert.equal(await addPasskey(db, person, passkeyOf('late')), 'not_signed_in');
  assert.deepEqual(await listPasskeys(db, person.userId), []);
});

test('an invitation is not accepted with the password of before a reset, and stays open', async () => {
  const { db } = service.database;
  const { email, userId } = await newPerson(service);
  const accountId = await createAccount(db, { name: 'a', credits: 0 });
  const link = await inviteAs(db, shell, { email, isOperator: true, accountId, role: 'owner' });
  assert.ok(link);
  const body = { token: link.token, password: goodPassword };
  const { answer } = await asked({
    ask: (one) => one.ask('POST', '/api/console/v1/links/accept', { body }),
    meanwhile: () => reset(email),
  });
  assertFailed(answer);
  assert.equal(await findMembership(db, accountId, userId), undefined);
  assert.ok(await findLink(db, link.token));
});
