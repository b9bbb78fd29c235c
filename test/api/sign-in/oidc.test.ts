import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { oidcCallbackPath } from '../../../src/api/sign-in/oidc-routes.ts';
import { createIdentityProvider, type IdentityProvider } from '../../../src/accounts/sign-in/identity-provider.ts';
import { invitePersonAs, createResetLinkAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { findLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { addPasskey, listPasskeys } from '../../../src/accounts/sign-in/passkey-rows.ts';
import { createSession, findAndTouchSession } from '../../../src/accounts/sign-in/sessions.ts';
import { findUser } from '../../../src/accounts/people/users.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { assertSince } from '../../support/assert-since.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { startIdentityProvider, type TestIdentityProvider, visit } from '../../support/servers/oidc-server.ts';
import { newBrowser, newPerson, origin, shell } from '../../support/service/person.ts';

let service: HttpService;
/** People are signed in here first, by a password. */
let byPassword: HttpService;
let provider: TestIdentityProvider;
let oidc: IdentityProvider | undefined;
before(async () => {
  service = await startHttpService({
    console: {
      get publicUrl() {
        return service.url;
      },
      passwordSignIn: false,
      get oidc() {
        return oidc;
      },
    },
  });
  byPassword = await startHttpService({ database: service.database });
  const redirectUri = service.url + oidcCallbackPath;
  provider = await startIdentityProvider(redirectUri);
  oidc = createIdentityProvider({ ...provider, name: 'Test' }, redirectUri);
});
after(async () => {
  provider.close();
  await byPassword.close();
  await service.close();
});

beforeEach(() => Object.assign(provider, { authTime: undefined, ignores: [] }));

type Jar = Map<string, string>;
const isPage = (url: string) => url.startsWith(`${service.url}/console`) && !url.includes('/oidc/');

/** Signs in as the provider's person; returns the page at which the browser arrives. */
async function signIn(jar: Jar = new Map()): Promise<string> {
  const { url } = await visit(`${service.url}/console/oidc/start`, jar, isPage);
  return url.slice(service.url.length);
}

function browserOf(jar: Jar) {
  const port = new URL(service.url).port;
  const token = jar.get(`127.0.0.1:${port} videogen_${port}`);
  return newBrowser(service, token === undefined ? undefined : `videogen_${port}=${token}`);
}

const meOf = async (jar: Jar) => (await browserOf(jar).ask('GET', '/api/console/v1/me')).json;
const signOut = (jar: Jar) => browserOf(jar).ask('POST', '/api/console/v1/sign-out');

test('an invited person signs in through the identity provider and gets the rights of the invitation', async () => {
  const { accountId } = await service.newAccount(0);
  const invitee = { email: 'ada@example.com', isOperator: true, accountId, role: 'member' } as const;
  await invitePersonAs(service.database.db, shell, invitee);
  provider.person = { sub: 'ada-1', email: 'Ada@example.com', email_verified: true };
  const jar: Jar = new Map();
  assert.equal(await signIn(jar), '/console');
  const { data } = await meOf(jar);
  const { user, accounts } = data as { user: Record<string, unknown>; accounts: unknown };
  assert.deepEqual([user['email'], user['isOperator']], ['ada@example.com', true]);
  assert.deepEqual(accounts, [{ accountId, name: 'test', role: 'member', suspension: null }]);
  assert.ok(![...jar.keys()].some((name) => name.endsWith('_visit')), 'the cookie of the visit is cleared');
  provider.person = { sub: 'ada-1' };
  const again: Jar = new Map();
  assert.equal(await signIn(again), '/console', 'known by the subject, with any e-mail');
});

test('a person who is invited into several accounts joins each of them, and no closed one', async () => {
  const { db } = service.database;
  const accounts = [await service.newAccount(0), await service.newAccount(0), await service.newAccount(0)];
  for (const { accountId } of accounts)
    await invitePersonAs(db, shell, { email: 'cleo@example.com', isOperator: false, accountId, role: 'viewer' });
  const [closed, ...open] = accounts.map(({ accountId }) => accountId);
  await closeAccountAs(db, shell, { accountId: String(closed), reason: 'a test' });
  provider.person = { sub: 'cleo-1', email: 'cleo@example.com', email_verified: true };
  const jar: Jar = new Map();
  assert.equal(await signIn(jar), '/console');
  const joined = (await meOf(jar)).data['accounts'] as readonly { readonly accountId: string }[];
  assert.deepEqual(joined.map(({ accountId }) => accountId).toSorted(), open.toSorted());
});

test('unknown, unverified and disabled people, and new owners of a known address, cannot sign in', async () => {
  const { email } = await newPersonWithoutPassword();
  for (const person of [
    { sub: 'eve', email: 'eve@example.com', email_verified: true },
    { sub: 'eve-2', email, email_verified: false },
    { sub: 'eve-3', email },
    { sub: 'eve-4' },
  ]) {
    provider.person = person;
    const jar: Jar = new Map();
    assert.equal(await signIn(jar), '/console/sign-in?failed=oidc_not_invited', person.sub);
    assert.equal((await meOf(jar)).error, 'not_signed_in');
  }
  provider.person = { sub: 'bob-1', email, email_verified: true };
  assert.equal(await signIn(), '/console');
  provider.person = { sub: 'bob-2', email, email_verified: true };
  assert.equal(await signIn(), '/console/sign-in?failed=oidc_not_invited', 'the address went to another person');
  const text = 'update users set disabled_at = now() where email = $1';
  await service.database.db.run({ name: 'test-disable-oidc', text }, [email]);
  provider.person = { sub: 'bob-1', email, email_verified: true };
  assert.equal(await signIn(), '/console/sign-in?failed=oidc_not_invited');
});

test('a first sign-in through the provider revokes every earlier credential of its address', async () => {
  const { db } = service.database;
  // Mallory invites Carol's address into an account, and accepts the link.
  const { email, userId } = await newPersonWithoutPassword();
  const credential = { credentialId: 'of-mallory', publicKey: Buffer.from('key'), counter: 0, transports: [] };
  const { token, session } = await createSession(db, userId, origin);
  assert.ok(typeof (await addPasskey(db, session, { name: 'of Mallory', credential, origin })) === 'object');
  assert.ok(await findAndTouchSession(db, token, { isBackground: true }));
  assert.notEqual((await findUser(db, userId))?.passwordHash, undefined);

  const reset = await createResetLinkAs(db, shell, email);
  assert.ok(reset && (await findLink(db, reset.token)));

  await invitePersonAs(db, shell, { email, isOperator: true });
  provider.person = { sub: 'carol', email, email_verified: true };
  const jar: Jar = new Map();
  assert.equal(await signIn(jar), '/console');
  assert.deepEqual(((await meOf(jar)).data as { user: unknown }).user, { userId, email, isOperator: true });
  assert.equal((await findUser(db, userId))?.passwordHash, undefined);
  assert.deepEqual(await listPasskeys(db, userId), []);
  assert.equal(await findAndTouchSession(db, token, { isBackground: true }), undefined);
  assert.equal(await findLink(db, reset.token), undefined);
});

test('an invitation is accepted only while the provider verifies its address', async () => {
  const { db } = service.database;
  const { accountId } = await service.newAccount(0);
  const { email } = await newPersonWithoutPassword();
  const verified = { sub: 'erin', email, email_verified: true };
  provider.person = verified;
  assert.equal(await signIn(), '/console');
  const link = await invitePersonAs(db, shell, { email, isOperator: true, accountId, role: 'owner' });
  assert.ok(link);
  for (const person of [
    { sub: 'erin', email: 'erin-after-the-wedding@example.com', email_verified: true },
    { sub: 'erin', email, email_verified: false },
    { sub: 'erin' },
  ]) {
    provider.person = person;
    const jar: Jar = new Map();
    assert.equal(await signIn(jar), '/console');
    const { user, accounts } = (await meOf(jar)).data as { user: { isOperator: boolean }; accounts: unknown[] };
    assert.deepEqual([user.isOperator, accounts], [false, []]);
    assert.ok(await findLink(db, link.token), 'it stays open');
  }
  provider.person = verified;
  assert.equal(await signIn(), '/console');
  assert.equal(await findLink(db, link.token), undefined);
});

function newPersonWithoutPassword() {
  return newPerson(byPassword);
}

test('a callback counts once, in the browser that started the visit, with its state, nonce and verifier', async () => {
  provider.person = { sub: 'ada-1' };
  const jar: Jar = new Map();
  const isCallback = (url: string) => url.startsWith(service.url + oidcCallbackPath);
  const { url: answer } = await visit(`${service.url}/console/oidc/start`, jar, isCallback);
  const arrival = async (url: string, with_: Jar) => (await visit(url, with_, isPage)).url.slice(service.url.length);
  assert.equal(await arrival(answer, new Map()), '/console/sign-in?failed=oidc_expired', 'in another browser');
  const victim: Jar = new Map();
  await visit(`${service.url}/console/oidc/start`, victim, isCallback);
  assert.equal(
    await arrival(answer, victim),
    '/console/sign-in?failed=oidc_failed',
    'with the visit of another browser',
  );
  assert.equal(await arrival(`${answer}x`, new Map(jar)), '/console/sign-in?failed=oidc_failed', 'changed');
  assert.equal(await arrival(answer, jar), '/console/sign-in?failed=oidc_expired', 'the visit is over');
  const fresh: Jar = new Map();
  const { url } = await visit(`${service.url}/console/oidc/start`, fresh, isCallback);
  const copy: Jar = new Map(fresh);
  assert.equal(await arrival(url, fresh), '/console');
  assert.equal(await arrival(url, copy), '/console/sign-in?failed=oidc_expired', 'a second time');
  assert.ok(!JSON.stringify(service.log).includes(new URL(url).searchParams.get('code') ?? 'none'));
});

test('an unavailable identity provider leads back to the sign-in, and is requested again later', async () => {
  const working = oidc;
  const settings = { issuer: 'http://127.0.0.1:1', clientId: 'x', clientSecret: 'y', name: 'Unavailable' };
  oidc = createIdentityProvider(settings, service.url + oidcCallbackPath);
  assert.equal(await signIn(), '/console/sign-in?failed=oidc_unavailable');
  oidc = undefined;
  assert.equal((await visit(`${service.url}/console/oidc/start`, new Map())).status, 404);
  assert.equal((await visit(`${service.url}${oidcCallbackPath}?code=x`, new Map())).status, 404);
  oidc = working;
  const options = await newBrowser(service).ask('GET', '/api/console/v1/options');
  assert.deepEqual([options.json.data['oidc'], options.json.data['passwordSignIn']], [{ name: 'Test' }, false]);
});

type Session = { readonly sessionId: string; readonly authTime: number };
const sessionOf = async (jar: Jar) => (await meOf(jar)).data['session'] as Session;
const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

/** A person who signs in, and whom the provider authenticated so many seconds ago. */
async function signedInSince(seconds: number) {
  const { email, userId } = await newPersonWithoutPassword();
  const authTime = secondsAgo(seconds);
  Object.assign(provider, { person: { sub: email, email, email_verified: true }, authTime });
  const jar: Jar = new Map();
  assert.equal(await signIn(jar), '/console');
  provider.authTime = undefined;
  return { jar, email, userId, authTimeMs: authTime * 1_000 };
}

test('a sign-in without a prompt is as old an authentication as that of the provider', async () => {
  const { jar, authTimeMs } = await signedInSince(3_600);
  assert.equal((await sessionOf(jar)).authTime, authTimeMs);
  assert.equal(await signIn(jar), '/console');
  assert.equal((await sessionOf(jar)).authTime, authTimeMs, 'in silence');
  assert.equal(await needsProof(jar), true);
  const { jar: ahead } = await signedInSince(-20);
  assert.ok((await sessionOf(ahead)).authTime <= Date.now(), 'whose clock is ahead');
  assert.equal(await needsProof(ahead), false);
});

async function needsProof(jar: Jar): Promise<boolean> {
  const answer = await browserOf(jar).ask('POST', '/api/console/v1/passkeys/register-options');
  return answer.json.error === 'reauthentication_required';
}

test('at a provider without auth_time a sign-in is no recent authentication, and a visit for one is', async () => {
  provider.ignores = ['max_age', 'prompt'];
  const { jar } = await signedInSince(0);
  assert.equal(await needsProof(jar), true);
  assert.equal(await prove(jar, '/ops'), '/console/ops');
  assert.equal(await needsProof(jar), false);
  provider.ignores = [];
});

/** Authenticates again at the provider; returns the page at which the browser arrives. */
async function prove(jar: Jar, next: string): Promise<string> {
  const query = new URLSearchParams({ proof: '1', next });
  const { url } = await visit(`${service.url}/console/oidc/start?${query.toString()}`, jar, isPage);
  return url.slice(service.url.length);
}

test('a person authenticates again at the provider, and returns to their page with a renewed session', async () => {
  const { jar } = await signedInSince(3_600);
  assert.equal(await needsProof(jar), true);
  const { sessionId } = await sessionOf(jar);
  const old = new Map(jar);
  const sinceMs = secondsAgo(0) * 1_000;
  assert.equal(await prove(jar, '/a/x/settings?tab=keys'), '/console/a/x/settings?tab=keys');
  const renewed = await sessionOf(jar);
  assert.equal(renewed.sessionId, sessionId);
  assertSince(sinceMs, renewed.authTime);
  assert.equal(await needsProof(jar), false);
  assert.equal((await meOf(old)).error, 'not_signed_in', 'the secret of before is dead');
  for (const next of ['//evil.test/', '/\\evil.test', 'https://evil.test/', '', '/']) {
    assert.equal(await prove(jar, next), '/console', next);
  }
  assert.equal(await prove(jar, '/../x'), '/console/x');
});

test('an authentication of another person, an old one and one without a session change nothing', async () => {
  const { jar, email } = await signedInSince(3_600);
  const back = (failed: string) => `/console/sign-in?failed=${failed}&next=%2Fops`;
  const isAsBefore = async () => {
    const { data } = await meOf(jar);
    return (data as { user: { email: string } }).user.email === email && (await needsProof(jar));
  };
  const { email: other } = await newPersonWithoutPassword();
  provider.person = { sub: other, email: other, email_verified: true };
  // The provider itself would ask whether to leave the one who is signed in there.
  const { host } = new URL(provider.issuer);
  const forgotten = () => [...jar.keys()].filter((name) => name.startsWith(host)).forEach((name) => jar.delete(name));
  forgotten();
  assert.equal(await prove(jar, '/ops'), back('oidc_failed'), 'another person');
  assert.equal((await meOf(jar)).code, 200);
  forgotten();
  assert.ok(await isAsBefore());
  Object.assign(provider, { person: { sub: email }, authTime: secondsAgo(120) });
  assert.equal(await prove(jar, '/ops'), back('oidc_failed'), 'from before the visit');
  provider.authTime = undefined;
  assert.ok(await isAsBefore());
  const isCallback = (url: string) => url.startsWith(service.url + oidcCallbackPath);
  const { url } = await visit(`${service.url}/console/oidc/start?proof=1&next=/ops`, jar, isCallback);
  await signOut(jar);
  assert.equal((await visit(url, jar, isPage)).url, service.url + back('oidc_expired'), 'signed out meanwhile');
  assert.equal(await prove(new Map(), '/ops'), '/console/sign-in?next=%2Fops', 'never signed in');
});
