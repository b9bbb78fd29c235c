import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../../src/config.ts';
import { oidcCallbackPath } from '../../../../src/http/routes/console/oidc.ts';
import { createIdentityProvider, type IdentityProvider } from '../../../../src/oidc/identity-provider.ts';
import { inviteAs, resetAs } from '../../../../src/stores/invite.ts';
import { signInWithIdentity } from '../../../../src/stores/oidc-identities.ts';
import { findLink } from '../../../../src/stores/one-time-links.ts';
import { addPasskey, listPasskeys } from '../../../../src/stores/passkeys.ts';
import { createSession, findSession } from '../../../../src/stores/sessions.ts';
import { acceptLink } from '../../../../src/stores/sign-in.ts';
import { findUser } from '../../../../src/stores/users.ts';
import { holdAt, settledOrBlocked } from '../../../support/held-statement.ts';
import { type HttpService, startHttpService } from '../../../support/http-service.ts';
import { startIdentityProvider, type TestIdentityProvider, visit } from '../../../support/identity-provider.ts';
import { newBrowser, newPerson } from '../../../support/person.ts';

let service: HttpService;
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
  const redirectUri = service.url + oidcCallbackPath;
  provider = await startIdentityProvider(redirectUri);
  oidc = createIdentityProvider({ ...provider, name: 'Test' }, redirectUri);
});
after(async () => {
  provider.close();
  await service.close();
});

beforeEach(() => Object.assign(provider, { authTime: undefined, ignores: [] }));

const shell = { kind: 'command_line', name: 'ada' } as const;
const origin = { address: '192.0.2.1', userAgent: 'test' };
type Jar = Map<string, string>;
const isPage = (url: string) => url.startsWith(`${service.url}/console`) && !url.includes('/oidc/');

/** Signs in as the provider's person; answers the page at which the browser arrives. */
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

test('somebody who is invited signs in through the identity provider, and becomes what the invitation says', async () => {
  const { accountId } = await service.newAccount(0);
  const wanted = { email: 'ada@example.com', isOperator: true, accountId, role: 'member' } as const;
  await inviteAs(service.database.db, shell, wanted);
  provider.person = { sub: 'ada-1', email: 'Ada@example.com', email_verified: true };
  const jar: Jar = new Map();
  assert.equal(await signIn(jar), '/console');
  const { data } = await meOf(jar);
  const { user, accounts } = data as { user: Record<string, unknown>; accounts: unknown };
  assert.deepEqual([user['email'], user['isOperator']], ['ada@example.com', true]);
  assert.deepEqual(accounts, [{ accountId, name: 'test', role: 'member', suspension: null }]);
  assert.ok(![...jar.keys()].some((name) => name.endsWith('_visit')), 'the cookie of the visit is gone');
  provider.person = { sub: 'ada-1' };
  const again: Jar = new Map();
  assert.equal(await signIn(again), '/console', 'known by the subject, whatever the e-mail');
});

test('nobody signs up by themselves: unknown, unverified, disabled and somebody with another’s old address stay outside', async () => {
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

test('whoever used a link to an address before its owner proved it has no way in any more', async () => {
  const { db } = service.database;
  // Somebody who is not Carol invites Carol's address into an account of theirs, and uses the link.
  const { email, userId } = await newPersonWithoutPassword();
  const credential = { credentialId: 'of-mallory', publicKey: Buffer.from('key'), counter: 0, transports: [] };
  const { token, session } = await createSession(db, userId, origin);
  assert.ok(typeof (await addPasskey(db, session, { name: 'of Mallory', credential, origin })) === 'object');
  assert.ok(await findSession(db, token, { isBackground: true }));
  assert.notEqual((await findUser(db, userId))?.passwordHash, undefined);

  await inviteAs(db, shell, { email, isOperator: true });
  provider.person = { sub: 'carol', email, email_verified: true };
  const jar: Jar = new Map();
  assert.equal(await signIn(jar), '/console');
  assert.deepEqual(((await meOf(jar)).data as { user: unknown }).user, { userId, email, isOperator: true });
  assert.equal((await findUser(db, userId))?.passwordHash, undefined);
  assert.deepEqual(await listPasskeys(db, userId), []);
  assert.equal(await findSession(db, token, { isBackground: true }), undefined);
});

test('an open reset does not survive the first proof of its address', async () => {
  const { db } = service.database;
  const { email } = await newPersonWithoutPassword();
  const reset = await resetAs(db, shell, email);
  assert.ok(reset && (await findLink(db, reset.token)));
  provider.person = { sub: 'dora', email, email_verified: true };
  assert.equal(await signIn(), '/console');
  assert.equal(await findLink(db, reset.token), undefined);
});

test('an invitation is accepted by whom the provider still vouches for under its address, and by nobody else', async () => {
  const { db } = service.database;
  const { accountId } = await service.newAccount(0);
  const { email } = await newPersonWithoutPassword();
  const verified = { sub: 'erin', email, email_verified: true };
  provider.person = verified;
  assert.equal(await signIn(), '/console');
  const link = await inviteAs(db, shell, { email, isOperator: true, accountId, role: 'owner' });
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

for (const whose of ['somebody who is invited', 'somebody who is known'] as const) {
  test(`two first visits of ${whose} that come together both sign in`, async () => {
    const { db } = service.database;
    const isNew = whose === 'somebody who is invited';
    const email = isNew ? 'frank@example.com' : (await newPersonWithoutPassword()).email;
    if (isNew) await inviteAs(db, shell, { email, isOperator: true });
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

test('a link and the identity provider may open a new address together', async () => {
  const { db } = service.database;
  const email = 'grace@example.com';
  const made = await inviteAs(db, shell, { email, isOperator: true });
  const link = made && (await findLink(db, made.token));
  assert.ok(link);
  const held = holdAt(db, 'create-user');
  const byLink = acceptLink(held.db, { link, email, passwordHash: 'x', origin });
  await held.arrived;
  const identity = { issuer: 'https://id.example.com', subject: email, email };
  const byIdentity = signInWithIdentity(db, identity, { origin });
  await settledOrBlocked(db, byIdentity);
  held.go();
  const [one, other] = await Promise.all([byLink, byIdentity]);
  assert.ok(one && other);
  assert.equal(one.session.userId, other.session.userId);
});

async function newPersonWithoutPassword() {
  const on = await startHttpService({ database: service.database });
  try {
    return await newPerson(on);
  } finally {
    await on.close();
  }
}

test('an answer counts once, in the browser that asked, with the state, nonce and verifier of its visit', async () => {
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

test('an identity provider that is away leads back to the sign-in, and is asked again later', async () => {
  const working = oidc;
  const settings = { issuer: 'http://127.0.0.1:1', clientId: 'x', clientSecret: 'y', name: 'Away' };
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

/** Somebody who signs in, and whom the provider asked for a proof so long ago. */
async function signedInSince(seconds: number) {
  const { email, userId } = await newPersonWithoutPassword();
  Object.assign(provider, { person: { sub: email, email, email_verified: true }, authTime: secondsAgo(seconds) });
  const jar: Jar = new Map();
  assert.equal(await signIn(jar), '/console');
  provider.authTime = undefined;
  return { jar, email, userId };
}

test('a sign-in that the provider lets through in silence is as old a proof as the one that the provider had', async () => {
  const { jar } = await signedInSince(3_600);
  const old = secondsAgo(3_600) * 1000;
  assert.ok(Math.abs((await sessionOf(jar)).authTime - old) < 60_000);
  assert.equal(await signIn(jar), '/console');
  const again = await sessionOf(jar);
  assert.ok(Math.abs(again.authTime - old) < 60_000, 'in silence');
  assert.equal(await needsProof(jar), true);
  const { jar: ahead } = await signedInSince(-20);
  assert.ok((await sessionOf(ahead)).authTime <= Date.now(), 'whose clock is ahead');
  assert.equal(await needsProof(ahead), false);
});

/** Whether the session is asked for a proof by what needs one. */
async function needsProof(jar: Jar): Promise<boolean> {
  const answer = await browserOf(jar).ask('POST', '/api/console/v1/passkeys/register-options');
  return answer.json.error === 'reauthentication_required';
}

test('a sign-in at a provider that does not say when it asked is no proof; a visit to it for a proof is one', async () => {
  provider.ignores = ['max_age', 'prompt'];
  const { jar } = await signedInSince(0);
  assert.equal(await needsProof(jar), true);
  assert.equal(await prove(jar, '/ops'), '/console/ops');
  assert.equal(await needsProof(jar), false);
  provider.ignores = [];
});

/** Goes to the provider to prove again who is there; answers the page at which the browser arrives. */
async function prove(jar: Jar, next: string): Promise<string> {
  const query = new URLSearchParams({ proof: '1', next });
  const { url } = await visit(`${service.url}/console/oidc/start?${query.toString()}`, jar, isPage);
  return url.slice(service.url.length);
}

test('a person proves again at the provider who they are, and comes back to their page with a session that is renewed', async () => {
  const { jar } = await signedInSince(3_600);
  assert.equal(await needsProof(jar), true);
  const { sessionId } = await sessionOf(jar);
  const old = new Map(jar);
  assert.equal(await prove(jar, '/a/x/settings?tab=keys'), '/console/a/x/settings?tab=keys');
  const renewed = await sessionOf(jar);
  assert.equal(renewed.sessionId, sessionId);
  assert.ok(Date.now() - renewed.authTime < 60_000);
  assert.equal(await needsProof(jar), false);
  assert.equal((await meOf(old)).error, 'not_signed_in', 'the secret of before is dead');
  for (const next of ['//evil.test/', '/\\evil.test', 'https://evil.test/', '', '/']) {
    assert.equal(await prove(jar, next), '/console', next);
  }
  assert.equal(await prove(jar, '/../x'), '/console/x');
});

test('the proof of somebody else, an old one and one without a session prove nothing, and leave the session as it is', async () => {
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
  assert.equal(await prove(jar, '/ops'), back('oidc_failed'), 'somebody else');
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

test('the settings name issuer and client together, https but for this machine, and passwords are off only beside them', () => {
  const ids = { OIDC_ISSUER: 'https://id.example.com/tenant', OIDC_CLIENT_ID: 'videogen' };
  const { oidc: read, passwordSignIn } = readConfig({ ...ids, CONSOLE_PASSWORD_LOGIN: 'off' });
  assert.deepEqual(read, {
    issuer: ids.OIDC_ISSUER,
    clientId: 'videogen',
    clientSecret: undefined,
    name: 'id.example.com',
  });
  assert.equal(passwordSignIn, false);
  for (const [wrong, msg] of [
    [{ OIDC_ISSUER: ids.OIDC_ISSUER }, /set both or neither/],
    [{ OIDC_CLIENT_ID: 'x' }, /set both or neither/],
    [{ ...ids, OIDC_ISSUER: 'http://id.example.com' }, /OIDC_ISSUER: must be https/],
    [{ CONSOLE_PASSWORD_LOGIN: 'off' }, /CONSOLE_PASSWORD_LOGIN: may be off only where OIDC_ISSUER is set/],
    [{ CONSOLE_PASSWORD_LOGIN: 'no' }, /CONSOLE_PASSWORD_LOGIN: must be on or off/],
  ] as const) {
    assert.throws(() => readConfig(wrong), msg);
  }
});
