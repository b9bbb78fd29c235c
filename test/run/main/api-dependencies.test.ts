import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { mailKeyPurpose } from '../../../src/platform/mail/mail-queue.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { type Environment, readConfig } from '../../../src/run/config/config.ts';
import { settingsWithNothingEmbedded } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { mailSecretBoxOf, needsFromSettings, openApiDependencies } from '../../../src/run/main/api-dependencies.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';

const secrets = { now: 's'.repeat(32), before: 'p'.repeat(32) };

const settingsOf = (given: Environment) =>
  settingsWithNothingEmbedded(
    readConfig({
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      VIDEOGEN_SECRET: secrets.now,
      RESULT_STORE: '/srv/results',
      ...given,
    }),
  );

const unbranded = { logo: undefined, accent: undefined, support: undefined, terms: undefined, privacy: undefined };

test('an API has what its settings say, each value in its place', () => {
  const given = settingsOf({
    VIDEOGEN_SECRET_PREVIOUS: secrets.before,
    PUBLIC_URL: 'https://films.example',
    RESULT_STORE: 's3://films',
    AWS_REGION: 'eu-west-1',
    MEDIA_RETENTION_DAYS: '2',
    PROMPT_RETENTION_DAYS: '3',
    CONTENT_REDIRECT: 'on',
    PROMPT_SEARCH: 'off',
    BRAND_NAME: 'Films',
    CONSOLE_PASSWORD_LOGIN: 'off',
    OIDC_ISSUER: 'https://people.example',
    OIDC_CLIENT_ID: 'videogen',
    SIGN_UP: 'open',
    SIGN_UP_CREDITS: '5',
    SMTP_URL: 'smtp://mail.example',
    SMTP_FROM: 'no-reply@films.example',
    STRIPE_SECRET_KEY: 'sk_test_12345678',
    STRIPE_WEBHOOK_SECRET: 'whsec_12345678',
    READ_RATE: '7/10s',
    REFUSED_CREATE_RATE: '8/60s',
    BAD_KEY_RATE: '9/60s',
    TRUSTED_PROXIES: '10.1.0.0/16',
    CALLBACK_ALLOW: '10.2.0.0/16',
  });
  const {
    console: ofConsole,
    reads,
    refusedCreates,
    badKeys,
    mails,
    payments,
    isTrustedProxy,
    refuseCallbackUrl,
    ...plain
  } = needsFromSettings({ ...given, temporalUiUrl: 'http://127.0.0.1:8233' });
  assert.deepEqual(plain, {
    retentionMs: 2 * 86_400_000,
    promptRetentionMs: 3 * 86_400_000,
    redirectsContent: true,
    consoleMediaOrigins: ['https://films.example', 'https://films.s3.eu-west-1.amazonaws.com'],
    brand: { ...unbranded, name: 'Films', buyCredits: undefined },
    signUp: {
      mode: 'open',
      domains: [],
      credits: 5,
      hourlyLimit: 100,
      hourlyLimitPerAddress: 5,
      secrets: [secrets.now, secrets.before],
    },
    searchesPrompts: false,
    isTraced: false,
    temporalUiUrl: 'http://127.0.0.1:8233',
  });
  const { oidc, ...signIn } = ofConsole;
  assert.deepEqual(
    [signIn, oidc?.name],
    [{ publicUrl: 'https://films.example', passwordSignIn: false }, 'people.example'],
  );
  assert.deepEqual(
    [reads?.rate, refusedCreates?.rate],
    [
      { quota: 7, windowMs: 10_000 },
      { quota: 8, windowMs: 60_000 },
    ],
  );
  badKeys.addGood('hash');
  assert.ok(badKeys.isGood('hash') && mails !== undefined && payments !== undefined);
  assert.deepEqual(['10.1.2.3', '10.2.2.3'].map(isTrustedProxy), [true, false]);
  assert.equal(refuseCallbackUrl('http://10.2.2.3/'), undefined);
  assert.match(refuseCallbackUrl('http://10.1.2.3/') ?? '', /./);
});

test('a second store in a bucket is an origin of media, too, and a folder is not', () => {
  const second = { RESULT_STORE_ALSO: 's3://old', AWS_REGION: 'eu-west-1', PUBLIC_URL: 'https://films.example/api' };
  assert.deepEqual(needsFromSettings(settingsOf(second)).consoleMediaOrigins, [
    'https://films.example',
    'https://old.s3.eu-west-1.amazonaws.com',
  ]);
});

test('without their settings an API has no limits, no mails, no payments and no identity provider', () => {
  const off = { READ_RATE: 'off', REFUSED_CREATE_RATE: 'off', BAD_KEY_RATE: 'off' };
  const {
    console: ofConsole,
    reads,
    refusedCreates,
    badKeys,
    mails,
    payments,
    signUp,
  } = needsFromSettings(settingsOf(off));
  badKeys.addGood('hash');
  assert.deepEqual(
    [ofConsole.oidc, ofConsole.passwordSignIn, reads, refusedCreates, badKeys.isGood('hash'), mails, payments],
    [undefined, true, undefined, undefined, false, undefined, undefined],
  );
  assert.deepEqual(signUp.secrets, [secrets.now]);
});

test('mails that wait are opened with the secret of their time', () => {
  const box = mailSecretBoxOf(settingsOf({ VIDEOGEN_SECRET_PREVIOUS: secrets.before }));
  for (const secret of Object.values(secrets)) {
    const sealed = createSecretBox(secret, [], mailKeyPurpose).seal('a mail', 'its context');
    assert.equal(box.open(sealed, 'its context'), 'a mail');
  }
  assert.throws(() => box.open(createSecretBox(secrets.now).seal('a secret', 'its context'), 'its context'));
});

let environment: TestEnvironment;
before(async () => {
  const sells = { STRIPE_SECRET_KEY: 'sk_test_12345678', STRIPE_WEBHOOK_SECRET: 'whsec_12345678' };
  environment = await createTestEnvironment({ ...sells, DATABASE_POOL_SIZE: '3', CREATE_RATE: '4/10s' });
});
after(() => environment.close());

test('an API exports its gauges, stores no upload on a full disk, and records what waits when it drains', async () => {
  const { settings, database } = environment;
  let problem: string | undefined = 'disk full: work folder';
  const metrics = createMetrics();
  const state = { reasons: () => ['stopping'], diskProblem: () => problem };
  const parts = await openApiDependencies(settings, createLog({ level: 'silent' }), metrics, state);
  const { needs } = parts;
  try {
    assert.deepEqual(
      [needs.publicUrl, needs.createRate, needs.metrics, needs.diskProblem(), await needs.readiness()],
      [settings.publicUrl, { quota: 4, windowMs: 10_000 }, metrics.registry, problem, ['stopping']],
    );
    assert.deepEqual(metrics.databases.get('api')?.().limit, 3);
    const scraped = await metrics.registry.metrics();
    assert.match(scraped, /^videogen_payments_reconciled_timestamp_seconds 0$/m);
    assert.match(scraped, /^videogen_database_connections_limit\{of="api"\} 3$/m);

    const accountId = await createAccount(database.db, { name: 'a', credits: 0 });
    const received = new Error('a test');
    const store = () => needs.storeUpload(accountId, () => Promise.reject(received));
    await assert.rejects(store(), { code: 'disk_full' });
    problem = undefined;
    await assert.rejects(store(), received);

    const { keyId = '' } = (await createKeyUnchecked(database.db, { accountId, name: 'k', scopes: [] })) ?? {};
    needs.keyTouches.add(keyId);
    const request = { requestId: randomUUID(), method: 'GET', endpoint: '/api/v1/credits', status: 200, durationMs: 1 };
    const none = { userId: undefined, tool: undefined, errorCode: undefined, taskId: undefined };
    needs.requestLog.add({ ...request, ...none, accountId, keyId, endedAt: Date.now() });
    await parts.drain(10_000);
    const text = `
select (select count(*)::int from api_keys where last_used_at is not null) as keys,
  (select count(*)::int from api_requests) as requests`;
    assert.deepEqual(await database.db.run({ name: 'recorded', text }), [{ keys: 1, requests: 1 }]);
  } finally {
    await parts.close();
  }
  await assert.rejects(needs.db.run({ name: 'closed', text: 'select 1' }));
});

test('with METRICS_PORT an API does not serve metrics on its public port', async () => {
  const settings = { ...environment.settings, metricsPort: 1 };
  const state = { reasons: () => [], diskProblem: () => undefined };
  const parts = await openApiDependencies(settings, createLog({ level: 'silent' }), createMetrics(), state);
  assert.equal(parts.needs.metrics, undefined);
  await parts.close();
});
