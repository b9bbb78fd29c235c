import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRateLimiter } from '../../../src/http/limits/rate-limits.ts';
import { addPasskey } from '../../../src/stores/passkeys.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type Answer, assertRefused } from '../../support/http-client.ts';
import {
  type HttpService,
  type HttpServiceOptions,
  plainRequest,
  startHttpService,
} from '../../support/http-service.ts';
import { type Browser, newBrowser, newPerson } from '../../support/person.ts';

// Nobody uses up what others need, signed in or not.

const hour = 3_600_000;
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

async function withService(options: HttpServiceOptions, work: (service: HttpService) => Promise<void>): Promise<void> {
  const service = await startHttpService({ database, ...options });
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

test('429 creates of a person that are refused are counted for that person: keys and other members create on', async () => {
  const refusedCreates = createRateLimiter({ quota: 2, windowMs: hour });
  await withService({ refusedCreates }, async (service) => {
    const { accountId, key } = await service.newAccount(10_000);
    const viewer = await newPerson(service, { roles: { [accountId]: 'viewer' } });
    const member = await newPerson(service, { roles: { [accountId]: 'member' } });
    const create = (person = viewer) =>
      person.ask('POST', '/api/v1/jobs/createTask', { accountId, body: plainRequest });
    for (const _ of [1, 2]) assertRefused(await create(), 403, /your role/);
    assertRefused(await create(), 429, /too many of your creates were refused/);
    assert.equal((await service.create(key, plainRequest)).status, 200);
    assert.equal((await create(member)).status, 200);
    for (const _ of [1, 2]) assert.equal((await service.create(key, {})).status, 422);
    assertRefused(await service.create(key, plainRequest), 429, /too many creates of this account were refused/);
    assert.equal((await create(member)).status, 200);
  });
});

/** What those do who are not known yet: each begins or ends a try to sign in. */
const tries: readonly ((browser: Browser) => Promise<Answer>)[] = [
  (browser) => browser.ask('POST', '/api/console/v1/passkeys/sign-in-options'),
  (browser) => browser.ask('POST', '/api/console/v1/passkeys/sign-in', { body: { response: madeUp('unknown') } }),
  (browser) => browser.askAs('GET', '/console/oidc/start', {}),
];

const madeUp = (id: string) => ({ id, rawId: id, type: 'public-key', response: { clientDataJSON: 'e30' } });

/** Sign-ins by passkey, which need a name, and at an identity provider that is never visited. */
function withWaysIn(quota: number, work: (service: HttpService) => Promise<void>): Promise<void> {
  const visit = { state: 'a', nonce: 'b', codeVerifier: 'c' };
  const oidc = {
    name: 'Test',
    begin: () => Promise.resolve({ url: 'https://id.test/', visit }),
    identify: () => Promise.reject(new Error('never visited')),
  };
  let port = 0;
  const settings = {
    get publicUrl() {
      return `http://localhost:${port}`;
    },
    passwordSignIn: true,
    oidc,
  };
  return withService(
    { signIns: createRateLimiter({ quota, windowMs: 60_000 }, () => 0), console: settings },
    (service) => {
      port = service.server.port;
      return work(service);
    },
  );
}

test('429 who tries to sign in too often is held up by address; other addresses, and people who are signed in, go on', async () => {
  await withWaysIn(3, async (service) => {
    const [stranger, other] = [newBrowser(service), newBrowser(service)];
    for (const [place, status] of [200, 401, 302].entries())
      assert.equal((await tries[place]?.(stranger))?.status, status);
    for (const attempt of tries) {
      const refused = await attempt(stranger);
      assertRefused(refused, 429, /too many sign-in attempts/);
      assert.equal(refused.headers['retry-after'], '20');
      assert.equal(refused.headers['ratelimit-policy'], '"sign-ins";q=3;w=60');
    }
    assert.equal((await tries[0]?.(other))?.status, 200);
    // A sign-in with a password counts, too.
    const person = await newPerson(service);
    for (const status of [200, 200, 429]) assert.equal((await tries[0]?.(person))?.status, status);
    assert.equal((await person.ask('POST', '/api/console/v1/passkeys/register-options')).status, 200);
  });
});

test('429 wrong answers for a passkey that somebody has are limited, and so is what is logged of them', async () => {
  await withWaysIn(3, async (service) => {
    const { db } = database;
    const person = await newPerson(service);
    const credential = { credentialId: 'known', publicKey: Buffer.from('key'), counter: 0, transports: [] };
    const origin = { address: '192.0.2.1', userAgent: 'test' };
    await addPasskey(db, person, { name: 'laptop', credential, origin });
    const thief = newBrowser(service);
    const wrong = { body: { response: madeUp('known') } };
    const statuses: number[] = [];
    for (const _ of [1, 2, 3, 4, 5, 6]) {
      statuses.push((await thief.ask('POST', '/api/console/v1/passkeys/sign-in', wrong)).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 429, 429, 429]);
    const text = `select count(*)::int as logged from security_events where user_id = $1 and kind = 'sign_in_failed'`;
    assert.deepEqual(await db.run({ name: 'test-failed-passkeys', text }, [person.userId]), [{ logged: 3 }]);
  });
});
