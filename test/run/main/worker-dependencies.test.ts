import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { callbackFormatOf } from '../../../src/api/dialects/shapes.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { type Environment, readConfig } from '../../../src/run/config/config.ts';
import { settingsWithNothingEmbedded } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { guardedClientOptions, openWorkerDependencies } from '../../../src/run/main/worker-dependencies.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const settingsOf = (given: Environment) =>
  settingsWithNothingEmbedded(
    readConfig({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:7',
      VIDEOGEN_SECRET: 's'.repeat(32),
      RESULT_STORE: '/srv/results',
      PATH: process.env['PATH'],
      FFMPEG_PATH: process.env['FFMPEG_PATH'],
      ...given,
    }),
  );

async function open(t: TestContext, given: Environment) {
  const metrics = createMetrics();
  const media = createFolderStore(await temporaryFolder(t));
  const opened = openWorkerDependencies(
    settingsOf(given),
    createLog({ level: 'silent' }),
    metrics,
    media,
    () => 'disk full: work folder',
  );
  t.after(() => opened.close());
  return { parts: opened.parts, media, metrics };
}

test('a worker has what its settings say, each value in its place', async (t) => {
  const { parts, media, metrics } = await open(t, {
    WORKER_QUEUES: 'callbacks',
    DATABASE_POOL_SIZE: '3',
    PUBLIC_URL: 'https://films.example',
    VIDEOGEN_SECRET_PREVIOUS: 'p'.repeat(32),
    VIDEOGEN_DATA: '/srv/data',
    BRAND_NAME: 'Films',
    MARK_VIDEOS: 'off',
    MEDIA_RETENTION_DAYS: '2',
    PROMPT_RETENTION_DAYS: '3',
    SECURITY_EVENT_RETENTION_DAYS: '4',
    USER_RETENTION_DAYS: '5',
    STUCK_TASK_SECONDS: '360',
    STRIPE_SECRET_KEY: 'sk_test_12345678',
    STRIPE_WEBHOOK_SECRET: 'whsec_12345678',
  });
  const { hashAccount, ...settings } = parts.settings;
  const dayMs = 86_400_000;
  assert.deepEqual(settings, {
    marksVideos: false,
    serviceName: 'Films',
    workFolder: '/srv/data/work',
    retention: { mediaMs: 2 * dayMs, promptsMs: 3 * dayMs, securityEventsMs: 4 * dayMs, usersMs: 5 * dayMs },
    stuckTaskMs: 6 * 60_000,
  });
  assert.equal(new Set(hashAccount('an account')).size, 2, 'one for each secret');
  assert.equal(parts.payments?.serviceUrl, 'https://films.example');
  assert.equal(parts.watches.refusesWork(), 'disk full: work folder');
  assert.deepEqual([parts.media, parts.callbacks.callbackFormatOf], [media, callbackFormatOf]);
  assert.equal(metrics.databases.get('worker')?.().limit, 3);
});

test('a worker without Stripe reconciles no payments', async (t) => {
  assert.equal((await open(t, { WORKER_QUEUES: 'callbacks' })).parts.payments, undefined);
});

test('requests to addresses of clients reach no server of ours, and a callback never waits for a slot of its host', () => {
  const given = settingsOf({
    DATABASE_URL: 'postgres://db.example/films',
    BRAND_NAME: 'Films Ltd',
    HOST: '10.0.0.1',
    PORT: '81',
    METRICS_PORT: '82',
    IMAGE_ALLOW: 'images.example',
    CALLBACK_ALLOW: 'hooks.example:8080',
  });
  const own = [
    { host: '10.0.0.1', port: 81 },
    { host: '10.0.0.1', port: 82 },
    { host: 'db.example', port: 5432 },
    { host: '127.0.0.1', port: 7 },
  ];
  const common = { own, userAgent: 'Films-Ltd' };
  assert.deepEqual(guardedClientOptions(given), {
    references: { ...common, allow: { hosts: [{ hostname: 'images.example', port: undefined }], networks: [] } },
    callbacks: {
      ...common,
      allow: { hosts: [{ hostname: 'hooks.example', port: 8080 }], networks: [] },
      maxPerHost: 32,
      maxWaitingPerHost: 0,
    },
  });
});

for (const [queue, needsFfmpeg, needsSecrets] of [
  ['tasks', true, true],
  ['generation', true, false],
  ['generation-remote', true, true],
  ['callbacks', false, false],
] as const) {
  test(`a worker of the queue ${queue} ${needsFfmpeg ? 'does not start' : 'starts'} without ffmpeg, and ${needsSecrets ? 'does not start' : 'starts'} without the secrets of upstreams`, async (t) => {
    const opens = (given: Environment) =>
      open(t, { WORKER_QUEUES: queue, ...given }).then(
        () => true,
        (error: unknown) => (error instanceof Error ? error.name : error),
      );
    assert.equal(await opens({ FFMPEG_PATH: '/nowhere/ffmpeg' }), needsFfmpeg ? 'SetupError' : true);
    const path = join(await temporaryFolder(t), 'catalogue.json');
    const script = { kind: 'own', baseUrl: 'http://127.0.0.1:7', key: { env: 'A_SECRET_OF_NO_PROCESS' } };
    const models = [
      { model: 'm', title: 'M', prices: [{ creditsPerSecond: 7 }], tiers: [[{ provider: 'script', model: 'w' }]] },
    ];
    await writeFile(path, JSON.stringify({ providers: { script }, models }));
    assert.equal(await opens({ VIDEOGEN_MODELS: path }), needsSecrets ? 'ConfigError' : true);
  });
}
