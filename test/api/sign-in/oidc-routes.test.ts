import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { invitePersonAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import { findUserByEmail } from '../../../src/accounts/people/users.ts';
import type { IdentityProvider, VerifiedIdentity } from '../../../src/accounts/sign-in/identity-provider.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { oidcCallbackPath } from '../../../src/api/sign-in/oidc-routes.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { shell } from '../../support/service/person.ts';

// The redirects of a visit to an identity provider that is played here. test/api/sign-in/oidc.test.ts visits one that speaks OpenID Connect.

const visit = { state: 'state', nonce: 'nonce', codeVerifier: 'verifier' };
const ada = { issuer: 'http://issuer.test', subject: 'ada', email: 'ada@example.com' };
const eve = { issuer: 'http://issuer.test', subject: 'eve', email: 'eve@example.com' };

let service: HttpService;
let begun: boolean[] = [];
let identified: unknown[] = [];
let isAvailable = true;
/** Who is at the provider; undefined if it refuses. */
let person: Omit<VerifiedIdentity, 'authenticatedAt'> | undefined;

const oidc: IdentityProvider = {
  name: 'Test',
  begin: (isProof) => {
    begun.push(isProof);
    const url = 'http://issuer.test/authorize';
    return isAvailable ? Promise.resolve({ url, visit }) : Promise.reject(new Error('unreachable'));
  },
  identify: (query, of) => {
    identified.push([query, of]);
    if (person === undefined) return Promise.reject(new Error('refused'));
    return Promise.resolve({ ...person, authenticatedAt: Date.now() });
  },
};

before(async () => {
  service = await startHttpService({
    console: {
      get publicUrl() {
        return service.url;
      },
      passwordSignIn: true,
      oidc,
    },
  });
});
beforeEach(() => {
  begun = [];
  identified = [];
  isAvailable = true;
  person = ada;
});
after(() => service.close());

const get = (path: string, cookies: readonly string[] = []) =>
  service.send('GET', path, { headers: cookies.length > 0 ? { cookie: cookies.join('; ') } : {} });

/** The page of this service to which a response leads; it is stored nowhere, and the next page learns nothing of the visit. */
function pageOf({ status, headers }: Answer): string {
  assert.deepEqual([status, headers['cache-control'], headers['referrer-policy']], [302, 'no-store', 'no-referrer']);
  return String(headers['location']).replace(service.url, '');
}

/** The cookies that a response sets and does not clear. */
const cookiesOf = ({ headers }: Answer) =>
  (headers['set-cookie'] ?? []).filter((line) => !line.includes('Max-Age=0')).map((line) => line.split(';')[0] ?? '');

/** Visits the provider; returns the page at which the browser arrives, and its cookies. */
async function visitProvider(query = '', session: readonly string[] = []) {
  const start = await get(`/console/oidc/start${query}`, session);
  assert.equal(pageOf(start), 'http://issuer.test/authorize');
  const end = await get(`${oidcCallbackPath}?code=1`, [...session, ...cookiesOf(start)]);
  return { page: pageOf(end), cookies: cookiesOf(end) };
}

async function invite({ email }: { readonly email: string }): Promise<void> {
  const { accountId } = await service.newAccount(0);
  await invitePersonAs(service.database.db, shell, { email, isOperator: false, accountId, role: 'viewer' });
}

async function lastEvent() {
  const [{ eventId: _id, createdAt: _at, ...event } = assert.fail()] = await listAllSecurityEvents(
    service.database.db,
    { limit: 1 },
  );
  return event;
}

/** The event of a sign-in that failed. */
const failedSignIn = (email: string, userId?: string) => {
  const by = { userId, email, accountId: undefined, actor: undefined };
  return { kind: 'sign_in_failed', ...by, address: '127.0.0.1', userAgent: '', details: { means: 'oidc' } };
};

test('a visit leads to the provider and back to the page that began it, as the person whom the provider names', async () => {
  person = eve;
  assert.deepEqual(await visitProvider('?next=/ops'), {
    page: '/console/sign-in?failed=oidc_not_invited&next=%2Fops',
    cookies: [],
  });
  assert.deepEqual(await lastEvent(), failedSignIn(eve.email));
  person = ada;
  await invite(ada);
  for (const [next, page] of [
    ['/a/x/settings?tab=keys', '/console/a/x/settings?tab=keys'],
    ['/', '/console'],
    ['', '/console'],
    ['x', '/console'],
    ['//evil.test/', '/console'],
    ['/\\evil.test', '/console'],
    ['https://evil.test/', '/console'],
    ['/../x', '/console/x'],
  ] as const) {
    const arrived = await visitProvider(`?${new URLSearchParams({ next }).toString()}`);
    assert.deepEqual([arrived.page, arrived.cookies.length], [page, 1], next);
  }
  assert.equal((await visitProvider()).page, '/console');
  assert.deepEqual(new Set(begun), new Set([false]));
  assert.deepEqual(identified.at(-1), ['code=1', { ...visit, next: '' }]);
});

test('a visit that fails leads back to the sign-in with the reason and the page', async () => {
  person = undefined;
  assert.equal((await visitProvider('?next=/ops')).page, '/console/sign-in?failed=oidc_failed&next=%2Fops');
  assert.equal((await visitProvider()).page, '/console/sign-in?failed=oidc_failed');
  assert.equal(pageOf(await get(oidcCallbackPath)), '/console/sign-in?failed=oidc_expired');
  isAvailable = false;
  const unavailable = '/console/sign-in?failed=oidc_unavailable&next=%2Fops';
  const answer = await get('/console/oidc/start?next=/ops');
  assert.equal(pageOf(answer), unavailable);
  const logged = ['identity provider visit failed', 'identity provider unavailable'].map((text) => {
    const { requestId, error } = service.log.find(({ msg }) => msg === text) ?? assert.fail(text);
    return [requestId, (error as { readonly message: string }).message];
  });
  assert.match(String(logged[0]?.[0]), /^[\da-f-]{36}$/);
  assert.deepEqual([logged[0]?.[1], logged[1]], ['refused', [answer.headers['x-request-id'], 'unreachable']]);
});

test('a visit for a recent authentication needs a session, and counts for its person alone', async () => {
  await invite(ada);
  assert.equal(pageOf(await get('/console/oidc/start?proof=1')), '/console/sign-in');
  assert.equal(pageOf(await get('/console/oidc/start?proof=1&next=/ops')), '/console/sign-in?next=%2Fops');
  assert.deepEqual(begun, []);
  const { cookies } = await visitProvider('?proof=0');
  person = eve;
  const refused = await visitProvider('?proof=1&next=/ops', cookies);
  assert.deepEqual(refused, { page: '/console/sign-in?failed=oidc_failed&next=%2Fops', cookies: [] });
  const { userId } = (await findUserByEmail(service.database.db, ada.email)) ?? assert.fail();
  assert.deepEqual(await lastEvent(), failedSignIn(ada.email, userId));
  person = ada;
  const renewed = await visitProvider('?proof=1&next=/ops', cookies);
  assert.equal(renewed.page, '/console/ops');
  assert.deepEqual([renewed.cookies.length, renewed.cookies[0] === cookies[0]], [1, false]);
  assert.deepEqual(begun, [false, true, true]);
});

test('visits exist at the own host of a service with a provider, and are limited by address', async () => {
  for (const path of ['/console/oidc/start', oidcCallbackPath]) {
    const foreign = await service.send('GET', path, { headers: { host: 'evil.example' } });
    assert.deepEqual([foreign.status, foreign.json.error], [421, 'misdirected_request'], path);
  }
  const { database } = service;
  const signIns = createRateLimiter({ quota: 1, windowMs: 60_000 }, () => 0);
  const without = await startHttpService({ database });
  const limited = await startHttpService({ database, signIns, console: { ...service.deps.console, oidc } });
  try {
    for (const path of ['/console/oidc/start', oidcCallbackPath]) {
      const { status, json } = await without.send('GET', path);
      assert.deepEqual([status, json.error], [404, 'unknown_endpoint'], path);
    }
    assert.equal((await limited.send('GET', '/console/oidc/start')).status, 302);
    const refused = await limited.send('GET', '/console/oidc/start');
    assert.deepEqual([refused.status, refused.json.error], [429, 'too_many_sign_ins']);
  } finally {
    await limited.close();
    await without.close();
  }
});
