import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { parseAllowList, parseNetworks } from '../../../src/platform/outbound/guard/allow-list.ts';
import { type Config, readConfig } from '../../../src/run/config/config.ts';

const dayMs = 86_400_000;
const bucket = { kind: 'bucket', bucket: 'other', prefix: '' };

/** Each variable with a value of its own, and the setting that it becomes. */
const settings: readonly (readonly [variable: string, text: string, setting: keyof Config, value: unknown])[] = [
  ['HOST', 'api.internal', 'host', 'api.internal'],
  ['PORT', '1', 'port', 1],
  ['METRICS_PORT', '2', 'metricsPort', 2],
  ['TEMPORAL_METRICS_PORT', '3', 'temporalMetricsPort', 3],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://otel.test', 'otlpEndpoint', 'http://otel.test'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://traces.test', 'otlpTracesEndpoint', 'http://traces.test'],
  ['PUBLIC_URL', 'https://video.test//', 'publicUrl', 'https://video.test'],
  ['PROMPT_SEARCH', 'off', 'promptSearch', false],
  ['CONSOLE_PASSWORD_LOGIN', 'on', 'passwordSignIn', true],
  ['OIDC_ISSUER', 'https://issuer.test', 'oidcIssuer', 'https://issuer.test'],
  ['OIDC_CLIENT_ID', 'films', 'oidcClientId', 'films'],
  ['OIDC_CLIENT_SECRET', 'hush', 'oidcClientSecret', 'hush'],
  ['OIDC_NAME', 'Work', 'oidcName', 'Work'],
  ['STRIPE_SECRET_KEY', 'rk_live_51abcdefgh', 'stripeSecretKey', 'rk_live_51abcdefgh'],
  ['STRIPE_WEBHOOK_SECRET', 'whsec_abcdefgh', 'stripeWebhookSecret', 'whsec_abcdefgh'],
  ['STRIPE_API_URL', 'https://stripe.test', 'stripeApiUrl', 'https://stripe.test'],
  ['VIDEOGEN_DATA', '/srv/data', 'dataFolder', '/srv/data'],
  ['XDG_CACHE_HOME', '/srv/cache', 'cacheFolder', '/srv/cache/videogen'],
  ['VIDEOGEN_SKIP_DOWNLOADS', '1', 'skipDownloads', true],
  ['DATABASE_URL', 'postgres://db.test/films', 'databaseUrl', 'postgres://db.test/films'],
  ['DATABASE_POOL_SIZE', '4', 'databasePoolSize', 4],
  ['TEMPORAL_CLI_PATH', '/opt/temporal', 'temporalCliPath', '/opt/temporal'],
  ['VIDEOGEN_TASK_QUEUE', 'queue-1', 'taskQueue', 'queue-1'],
  ['RESULT_STORE', '/srv/results', 'resultStore', { kind: 'folder', path: '/srv/results' }],
  ['RESULT_STORE_ALSO', 's3://other', 'resultStoreAlso', bucket],
  ['AWS_ENDPOINT_URL_S3', 'https://s3.test', 's3Endpoint', 'https://s3.test'],
  ['AWS_REGION', 'eu-1', 's3Region', 'eu-1'],
  ['S3_PATH_STYLE', '0', 's3PathStyle', false],
  ['VIDEOGEN_SECRET', 'n'.repeat(32), 'secret', 'n'.repeat(32)],
  ['VIDEOGEN_SECRET_PREVIOUS', 'o'.repeat(32), 'secretPrevious', ['o'.repeat(32)]],
  ['CALLBACK_ALLOW', 'receiver.test', 'callbackAllow', parseAllowList('receiver.test')],
  ['IMAGE_ALLOW', 'images.test', 'imageAllow', parseAllowList('images.test')],
  ['MODERATION_URL', 'https://guard.test', 'moderationUrl', 'https://guard.test'],
  ['MODERATION_SHAPE', 'plain', 'moderationShape', 'plain'],
  ['MODERATION_MODEL', 'guard-1', 'moderationModel', 'guard-1'],
  ['MODERATION_KEY', 'guard-key', 'moderationKey', 'guard-key'],
  ['MODERATION_TIMEOUT_SECONDS', '7', 'moderationTimeoutMs', 7_000],
  ['MODERATION_ON_ERROR', 'allow', 'moderationOnError', 'allow'],
  ['MODERATION_CONCURRENCY', '8', 'moderationConcurrency', 8],
  ['CONTENT_REDIRECT', 'on', 'redirectsContent', true],
  ['MARK_VIDEOS', 'off', 'markVideos', false],
  ['TRUSTED_PROXIES', '10.0.0.0/8', 'trustedProxies', parseNetworks('10.0.0.0/8')],
  ['GENERATION_CONCURRENCY', '11', 'generationConcurrency', 11],
  ['REMOTE_CONCURRENCY', '12', 'remoteConcurrency', 12],
  ['TASK_CONCURRENCY', '13', 'taskConcurrency', 13],
  ['CALLBACK_CONCURRENCY', '14', 'callbackConcurrency', 14],
  ['WORKER_QUEUES', 'callbacks,tasks', 'workerQueues', ['tasks', 'callbacks']],
  ['WORKER_VERSION', 'v9', 'workerVersion', 'v9'],
  ['CREATE_RATE', '1/10s', 'createRate', { quota: 1, windowMs: 10_000 }],
  ['READ_RATE', '2/10s', 'readRate', { quota: 2, windowMs: 10_000 }],
  ['REFUSED_CREATE_RATE', '3/1m', 'refusedCreateRate', { quota: 3, windowMs: 60_000 }],
  ['BAD_KEY_RATE', 'off', 'badKeyRate', undefined],
  ['SHUTDOWN_DELAY', '9s', 'shutdownDelayMs', 9_000],
  ['MEDIA_RETENTION_DAYS', '5', 'retentionMs', 5 * dayMs],
  ['PROMPT_RETENTION_DAYS', '6', 'promptRetentionMs', 6 * dayMs],
  ['SECURITY_EVENT_RETENTION_DAYS', '7', 'eventRetentionMs', 7 * dayMs],
  ['USER_RETENTION_DAYS', '8', 'userRetentionMs', 8 * dayMs],
  ['STUCK_TASK_SECONDS', '15', 'stuckTaskMs', 15_000],
  ['VIDEOGEN_BASE_URL', 'https://service.test', 'serviceUrl', 'https://service.test'],
  ['VIDEOGEN_API_KEY', 'key-1', 'apiKey', 'key-1'],
  ['VIDEOGEN_OPERATOR_KEY', 'key-2', 'operatorKey', 'key-2'],
  ['FFMPEG_PATH', '/opt/ffmpeg', 'ffmpegPath', '/opt/ffmpeg'],
  ['PREVIEW_FAILURES', '1', 'previewFailures', true],
  ['LOG_LEVEL', 'warn', 'logLevel', 'warn'],
  ['PATH', '/opt/bin', 'path', '/opt/bin'],
];

test('every setting is read from its own variable', () => {
  const config = readConfig(Object.fromEntries(settings.map(([variable, text]) => [variable, text])));
  assert.deepEqual(
    Object.fromEntries(settings.map(([, , setting]) => [setting, config[setting]])),
    Object.fromEntries(settings.map(([, , setting, value]) => [setting, value])),
  );
  assert.deepEqual(config.oidc, {
    issuer: 'https://issuer.test',
    clientId: 'films',
    clientSecret: 'hush',
    name: 'Work',
  });
});

for (const [variable, least, most] of [
  ['PORT', 0, 65_535],
  ['METRICS_PORT', 0, 65_535],
  ['TEMPORAL_METRICS_PORT', 1, 65_535],
  ['DATABASE_POOL_SIZE', 1, 1_000],
  ['MODERATION_TIMEOUT_SECONDS', 1, 30],
  ['MODERATION_CONCURRENCY', 1, 1_000],
  ['GENERATION_CONCURRENCY', 1, 10_000],
  ['REMOTE_CONCURRENCY', 1, 10_000],
  ['TASK_CONCURRENCY', 1, 10_000],
  ['CALLBACK_CONCURRENCY', 1, 10_000],
  ['MEDIA_RETENTION_DAYS', 1, 36_500],
  ['SECURITY_EVENT_RETENTION_DAYS', 1, 36_500],
  ['USER_RETENTION_DAYS', 1, 36_500],
  ['STUCK_TASK_SECONDS', 1, 86_400],
  ['SIGN_UP_CREDITS', 0, 999_999_999],
  ['SIGN_UP_LIMIT', 1, 100_000],
  ['SIGN_UP_LIMIT_PER_ADDRESS', 1, 100_000],
] as const) {
  test(`${variable} is a whole number from ${least} to ${most}`, () => {
    for (const number of [least, most]) assert.ok(readConfig({ [variable]: `${number}` }));
    for (const number of [least - 1, most + 1])
      assert.throws(() => readConfig({ [variable]: `${number}` }), new RegExp(`${variable}: must be a whole number`));
  });
}

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return assert.fail('the configuration was accepted');
}

test('every secret may be given as a file', () => {
  const names = [
    'DATABASE_URL',
    'VIDEOGEN_SECRET',
    'VIDEOGEN_SECRET_PREVIOUS',
    'TEMPORAL_API_KEY',
    'TEMPORAL_PAYLOAD_KEYS',
    'VIDEOGEN_API_KEY',
    'VIDEOGEN_OPERATOR_KEY',
    'OIDC_CLIENT_SECRET',
    'SMTP_URL',
    'STRIPE_SECRET_KEY',
    'STRIPE_WEBHOOK_SECRET',
    'MODERATION_KEY',
  ].map((name) => `${name}_FILE`);
  const problems = problemsOf(() => readConfig(Object.fromEntries(names.map((name) => [name, '/no/such/file']))));
  assert.deepEqual(
    problems.map((problem) => problem.replace(/: ENOENT.*/, '')),
    names,
  );
});

test('a process that embeds nothing needs its servers, its secret and its store, each reported once', () => {
  const missing = (environment: Readonly<Record<string, string>>) =>
    problemsOf(() => readConfig(environment, { isExternal: true })).map((problem) => problem.split(':')[0]);
  assert.deepEqual(missing({}), ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'VIDEOGEN_SECRET', 'RESULT_STORE']);
  assert.deepEqual(missing({ DATABASE_URL: 'postgres://db.test/films', RESULT_STORE: '/srv/results' }), [
    'TEMPORAL_ADDRESS',
    'VIDEOGEN_SECRET',
  ]);
});

test('only an embedded service trusts a proxy on its machine; traces are sent to either address', () => {
  const shared = { DATABASE_URL: 'postgres://db.test/films', VIDEOGEN_SECRET: 'x'.repeat(32) };
  assert.deepEqual(readConfig({}).trustedProxies, parseNetworks('127.0.0.0/8,::1'));
  assert.deepEqual(readConfig(shared).trustedProxies, parseNetworks(''));
  const isTracing = (environment: Readonly<Record<string, string>>) => readConfig(environment).isTracing;
  const [all, traces] = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;
  const url = 'http://otel.test';
  assert.deepEqual([{}, { [all]: url }, { [traces]: url }].map(isTracing), [false, true, true]);
});
