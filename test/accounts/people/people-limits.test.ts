import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { addPasskey } from '../../../src/accounts/sign-in/passkey-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import {
  type HttpService,
  type HttpServiceOptions,
  plainRequest,
  startHttpService,
} from '../../support/service/http-service.ts';
import { type Browser, newBrowser, newPerson, origin } from '../../support/service/person.ts';

// No person exhausts a limit that others need.

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

test('429 refused creates are counted per person: keys and other members are not affected', async () => {
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

/** Requests without a session that start or end a sign-in. */
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

test('429 sign-ins are limited by address; other addresses and signed-in people are not affected', async () => {
  await withWaysIn(3, async (service) => {
    const [stranger, other] = [newBrowser(service), newBrowser(service)];
    for (const [index, status] of [200, 401, 302].entries())
      assert.equal((await tries[index]?.(stranger))?.status, status);
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

test('429 invalid responses for a known passkey are limited, and so are their security events', async () => {
  await withWaysIn(3, async (service) => {
    const { db } = database;
    const person = await newPerson(service);
    const credential = { credentialId: 'known', publicKey: Buffer.from('key'), counter: 0, transports: [] };
    await addPasskey(db, person, { name: 'laptop', credential, origin });
    const thief = newBrowser(service);
    const invalid = { body: { response: madeUp('known') } };
    const statuses: number[] = [];
    for (const _ of [1, 2, 3, 4, 5, 6]) {
      statuses.push((await thief.ask('POST', '/api/console/v1/passkeys/sign-in', invalid)).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 429, 429, 429]);
    const text = `select count(*)::int as logged from security_events where user_id = $1 and kind = 'sign_in_failed'`;
    assert.deepEqual(await db.run({ name: 'test-failed-passkeys', text }, [person.userId]), [{ logged: 3 }]);
  });
});
