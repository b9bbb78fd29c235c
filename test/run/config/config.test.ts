import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Environment, readConfig, removeSettingsForDemo } from '../../../src/run/config/config.ts';
import { defaultModerationHook } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';

describe('readConfig', () => {
  test('an empty environment is the embedded service on loopback', () => {
    const config = readConfig({});
    assert.deepEqual(
      [config.host, config.port, config.databaseUrl, config.temporal],
      ['127.0.0.1', 3000, undefined, undefined],
    );
    assert.ok(config.imageAllow.networks.length > 0, 'loopback is let through');
  });

  test('every invalid setting is reported together, by the name of its variable', () => {
    const environment = {
      PORT: 'http',
      LOG_LEVEL: 'loud',
      PUBLIC_URL: 'ftp://x',
      IMAGE_ALLOW: '10.0.0.0/99',
      RESULT_STORE: 'gs://bucket',
    };
    assert.throws(
      () => readConfig(environment),
      (error) => {
        assert.ok(error instanceof ConfigError);
        for (const name of Object.keys(environment)) assert.match(error.message, new RegExp(`${name}: `));
        return true;
      },
    );
  });

  test('the check of content and the marks of videos have settings of their own', () => {
    const url = 'https://guard.test/check';
    const hookOf = (environment: Record<string, string>) => defaultModerationHook(readConfig(environment));
    assert.equal(hookOf({ MODERATION_KEY: 'sk' }), undefined);
    const { readKey, ...hook } = hookOf({ MODERATION_URL: url, MODERATION_KEY: 'sk' }) ?? assert.fail();
    const defaults = { timeoutMs: 5_000, onError: 'refuse', concurrency: 32 };
    assert.deepEqual(hook, { shape: 'openai', url, model: 'omni-moderation-latest', ...defaults });
    assert.equal(readKey?.(), 'sk');
    for (const [name, value, message] of [
      ['URL', 'guard', 'must be an http or https URL'],
      ['SHAPE', 'openapi', 'must be openai or plain'],
      ['ON_ERROR', 'ignore', 'must be allow or refuse'],
      ['TIMEOUT_SECONDS', '31', 'must be a whole number from 1 to 30'],
      ['CONCURRENCY', '0', 'must be a whole number from 1 to 1000'],
    ] as const)
      assert.throws(
        () => readConfig({ [`MODERATION_${name}`]: value }),
        (error) => error instanceof ConfigError && error.problems.includes(`MODERATION_${name}: ${message}`),
        name,
      );
    assert.deepEqual([readConfig({}).markVideos, readConfig({ MARK_VIDEOS: 'off' }).markVideos], [true, false]);
  });

  test('results lie in a folder, or in a bucket under a prefix', () => {
    const locationOf = (RESULT_STORE: string) => readConfig({ RESULT_STORE }).resultStore;
    const bucket = { kind: 'bucket', bucket: 'my-bucket.eu' } as const;
    assert.deepEqual(locationOf('/srv/results'), { kind: 'folder', path: '/srv/results' });
    assert.deepEqual(locationOf('s3://my-bucket.eu'), { ...bucket, prefix: '' });
    assert.deepEqual(locationOf('s3://my-bucket.eu/'), { ...bucket, prefix: '' });
    assert.deepEqual(locationOf('s3://my-bucket.eu/a/b-1/'), { ...bucket, prefix: 'a/b-1/' });
    for (const bad of [
      's3://',
      's3://UPPER',
      's3://b',
      's3://bucket//x',
      's3://bucket/..',
      's3://bucket/a b',
      'gs://x',
    ])
      assert.throws(() => readConfig({ RESULT_STORE: bad }), /RESULT_STORE: must be a folder, or s3:/, bad);
    assert.throws(() => readConfig({ S3_PATH_STYLE: 'yes' }), /S3_PATH_STYLE: must be 0 or 1/);
  });

  test('a delay before stopping is for shared services, unless it is set', () => {
    const shared = { DATABASE_URL: 'postgres://db/x', VIDEOGEN_SECRET: 'x'.repeat(32) };
    const delayOf = (environment: Record<string, string>) => readConfig(environment).shutdownDelayMs;
    assert.deepEqual([delayOf({}), delayOf(shared)], [0, 8_000]);
    const set = ['0', '500ms', '20s', '5m'].map((delay) => delayOf({ ...shared, SHUTDOWN_DELAY: delay }));
    assert.deepEqual(set, [0, 500, 20_000, 300_000]);
    for (const delay of ['5', '-1s', '6m', '300001ms', 'soon'])
      assert.throws(() => readConfig({ SHUTDOWN_DELAY: delay }), /SHUTDOWN_DELAY: must be a duration/);
  });

  test('metrics have no port of their own unless they are given one', () => {
    assert.deepEqual([readConfig({}).metricsPort, readConfig({ METRICS_PORT: '9464' }).metricsPort], [undefined, 9464]);
    assert.throws(() => readConfig({ METRICS_PORT: 'yes' }), /METRICS_PORT: /);
  });

  test('a bad release can be rolled back for ten minutes before its tasks are refunded, or for as long as is set', () => {
    const ms = [readConfig({}).stuckTaskMs, readConfig({ STUCK_TASK_SECONDS: '3600' }).stuckTaskMs];
    assert.deepEqual(ms, [600_000, 3_600_000]);
    assert.throws(() => readConfig({ STUCK_TASK_SECONDS: '0' }), /STUCK_TASK_SECONDS: /);
  });

  test('prompts stay with their task unless a retention is set, which is no shorter than that of the video', () => {
    const dayMs = 86_400_000;
    const { promptRetentionMs, eventRetentionMs, userRetentionMs } = readConfig({});
    assert.deepEqual([promptRetentionMs, eventRetentionMs, userRetentionMs], [undefined, 90 * dayMs, 90 * dayMs]);
    const set = { MEDIA_RETENTION_DAYS: '30', PROMPT_RETENTION_DAYS: '30', SECURITY_EVENT_RETENTION_DAYS: '7' };
    assert.equal(readConfig(set).promptRetentionMs, 30 * dayMs);
    assert.equal(readConfig(set).eventRetentionMs, 7 * dayMs);
    assert.throws(() => readConfig({ ...set, PROMPT_RETENTION_DAYS: '29' }), /PROMPT_RETENTION_DAYS: must be MEDIA/);
    for (const days of ['0', '1.5', 'forever'])
      assert.throws(() => readConfig({ USER_RETENTION_DAYS: days }), /USER_RETENTION_DAYS: must be a whole number/);
  });

  test('a variable that is set but empty counts as unset', () => {
    assert.equal(readConfig({ PORT: '', DATABASE_URL: '' }).port, 3000);
  });

  test('a database of its own needs a secret of its own, and opens nothing on this machine', () => {
    const DATABASE_URL = 'postgres://db/videogen';
    assert.throws(() => readConfig({ DATABASE_URL }), /VIDEOGEN_SECRET/);
    const config = readConfig({ DATABASE_URL, VIDEOGEN_SECRET: 'x'.repeat(32) });
    assert.deepEqual(config.callbackAllow, { hosts: [], networks: [] });
    const named = (url: string) => readConfig({ DATABASE_URL: url, VIDEOGEN_SECRET: 'x'.repeat(32) }).databaseUrl;
    assert.equal(named('postgresql://db/videogen'), 'postgresql://db/videogen');
    assert.throws(() => named('mysql://db/videogen'), /DATABASE_URL: must be a postgres:/);
  });

  test('an identity provider on this machine needs no https, and its name has a hundred characters at most', () => {
    const oidcOf = (host: string, name?: string) =>
      readConfig({ OIDC_ISSUER: `http://${host}:8080`, OIDC_CLIENT_ID: 'films', OIDC_NAME: name }).oidc;
    for (const host of ['localhost', '127.0.0.1', '[::1]']) assert.equal(oidcOf(host)?.name, host);
    assert.equal(oidcOf('localhost', 'n'.repeat(100))?.name.length, 100);
    assert.throws(() => oidcOf('localhost', 'n'.repeat(101)), /OIDC_NAME: must be at most 100 characters/);
  });

  test('an allow-list replaces the default', () => {
    assert.deepEqual(readConfig({ IMAGE_ALLOW: 'images.internal' }).imageAllow.networks, []);
  });

  test('previous secrets and payload keys are lists, and no message repeats one', () => {
    const [one, two] = ['o'.repeat(32), 't'.repeat(32)];
    assert.deepEqual(readConfig({ VIDEOGEN_SECRET_PREVIOUS: `${one}, ${two}` }).secretPrevious, [one, two]);
    assert.throws(() => readConfig({ VIDEOGEN_SECRET_PREVIOUS: ' , ' }), /VIDEOGEN_SECRET_PREVIOUS: must be secrets/);
    const hidesIt = ({ message }: Error) =>
      message.includes('VIDEOGEN_SECRET_PREVIOUS: must') && !message.includes('short');
    assert.throws(() => readConfig({ VIDEOGEN_SECRET_PREVIOUS: `${one},short` }), hidesIt);
    const keys = `a:${Buffer.alloc(32, 1).toString('base64')},b:${Buffer.alloc(32, 2).toString('base64')}`;
    assert.deepEqual(
      readConfig({ TEMPORAL_PAYLOAD_KEYS: keys }).payloadKeys?.map(({ id }) => id),
      ['a', 'b'],
    );
    assert.throws(() => readConfig({ TEMPORAL_PAYLOAD_KEYS: 'a:short' }), /TEMPORAL_PAYLOAD_KEYS: must be ID:KEY/);
  });

  test('both secrets of Stripe are set or neither, and no message repeats one', () => {
    const secrets = { STRIPE_SECRET_KEY: 'sk_test_51abcdefgh', STRIPE_WEBHOOK_SECRET: 'whsec_abcdefgh' };
    assert.equal(readConfig(secrets).stripeSecretKey, 'sk_test_51abcdefgh');
    const refusal = (environment: Environment) => {
      try {
        return readConfig(environment).host;
      } catch (error) {
        return error instanceof ConfigError ? error.problems : error;
      }
    };
    const both = 'STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET: set both or neither';
    assert.deepEqual(refusal({ STRIPE_SECRET_KEY: secrets.STRIPE_SECRET_KEY }), [both]);
    assert.deepEqual(refusal({ STRIPE_SECRET_KEY: 'pk_live_51abcdefgh', STRIPE_WEBHOOK_SECRET: 'secret' }), [
      'STRIPE_SECRET_KEY: must be a secret or restricted key of Stripe, such as sk_test_…',
      "STRIPE_WEBHOOK_SECRET: must be the signing secret of Stripe's event destination, whsec_…",
    ]);
  });

  test('a secret may be given as a file, but not twice', () => {
    const folder = mkdtempSync(join(tmpdir(), 'videogen-config-'));
    const file = join(folder, 'secret');
    writeFileSync(file, `${'s'.repeat(40)}\n`);
    assert.equal(readConfig({ VIDEOGEN_SECRET_FILE: file }).secret, 's'.repeat(40));
    assert.throws(() => readConfig({ VIDEOGEN_SECRET_FILE: file, VIDEOGEN_SECRET: 't'.repeat(40) }), /set only one/);
    assert.throws(() => readConfig({ VIDEOGEN_SECRET_FILE: join(folder, 'none') }), /VIDEOGEN_SECRET_FILE: /);
    rmSync(folder, { recursive: true });
  });

  test('Temporal is found by its own variables, namespace and API key included', () => {
    const { temporal } = readConfig({
      TEMPORAL_ADDRESS: 'temporal:7233',
      TEMPORAL_NAMESPACE: 'films',
      TEMPORAL_API_KEY: 'k',
    });
    assert.deepEqual(
      [temporal?.connection.address, temporal?.namespace, temporal?.connection.apiKey],
      ['temporal:7233', 'films', 'k'],
    );
  });

  test('the address of Temporal is a host and a port', () => {
    for (const address of ['temporal', 'temporal.example:443', '10.0.0.7:7233', '[::1]:7233'])
      assert.equal(readConfig({ TEMPORAL_ADDRESS: address }).temporal?.connection.address, address);
    for (const address of [
      'http://temporal:7233',
      'temporal:7233/',
      'temporal:72333',
      'temporal:x',
      'user@temporal:7233',
    ])
      assert.throws(
        () => readConfig({ TEMPORAL_ADDRESS: address }),
        /TEMPORAL_ADDRESS: must be a host and a port/,
        address,
      );
  });

  test('a catalogue file replaces the models, and one that names a model, or an instant of its prices, twice is refused', () => {
    const folder = mkdtempSync(join(tmpdir(), 'videogen-config-'));
    const file = join(folder, 'models.json');
    const model = { model: 'm', title: 'M', prices: [{ creditsPerSecond: 7 }] };
    writeFileSync(file, JSON.stringify({ models: [model] }));
    assert.deepEqual(
      [...readConfig({ VIDEOGEN_MODELS: file }).catalogue.models.values()].map(({ model: name, prices }) => [
        name,
        prices[0]?.amounts[0]?.creditsPerSecond,
      ]),
      [['m', 7]],
    );
    const fileOf = (environment: Environment, standardCatalogue: string) =>
      readConfig(environment, { standardCatalogue }).catalogueFile;
    assert.deepEqual([fileOf({}, file), fileOf({ VIDEOGEN_MODELS: file }, '/no/such/file')], [file, file]);
    writeFileSync(file, JSON.stringify({ models: [model, model] }));
    assert.throws(() => readConfig({ VIDEOGEN_MODELS: file }), /VIDEOGEN_MODELS: .*twice/s);
    for (const aliases of [['m'], ['x', 'x'], ['other'], ['shared']]) {
      const other = { ...model, model: 'other', aliases: ['shared'] };
      writeFileSync(file, JSON.stringify({ models: [{ ...model, aliases }, other] }));
      assert.throws(
        () => readConfig({ VIDEOGEN_MODELS: file }),
        /VIDEOGEN_MODELS: .*is used twice; names and aliases/s,
      );
    }
    const twoAtOnce = [{ creditsPerSecond: 7 }, { creditsPerSecond: 8, from: '1970-01-01T01:00:00+01:00' }];
    writeFileSync(file, JSON.stringify({ models: [{ ...model, prices: twoAtOnce }] }));
    assert.throws(
      () => readConfig({ VIDEOGEN_MODELS: file }),
      /VIDEOGEN_MODELS: .*begins at the same instant as prices\[0\]/s,
    );
    rmSync(folder, { recursive: true });
  });

  test('a catalogue file gives models aliases; ours keep the built-in ones that the file does not use otherwise', () => {
    const folder = mkdtempSync(join(tmpdir(), 'videogen-config-'));
    const file = join(folder, 'models.json');
    const prices = [{ creditsPerSecond: 7 }];
    const models = [
      { model: 'videogen-2.0', title: 'Ours', prices },
      { model: 'bytedance/seedance-2', title: 'Theirs', prices },
      { model: 'videogen-2.0-fast', title: 'None', prices, aliases: [] },
      { model: 'house', title: 'House', prices, aliases: ['bytedance/seedance-1.5-pro', 'villa'] },
    ];
    writeFileSync(file, JSON.stringify({ models }));
    assert.deepEqual(
      [...readConfig({ VIDEOGEN_MODELS: file }).catalogue.models.values()].map(({ aliases }) => aliases),
      [['bytedance/seedance-2-5', 'bytedance/v1-pro-text-to-video'], [], [], ['bytedance/seedance-1.5-pro', 'villa']],
    );
    rmSync(folder, { recursive: true });
  });

  test('a sealed environment keeps nothing of a service, only where programs and downloads are', () => {
    const strangers = { DATABASE_URL: 'x', PUBLIC_URL: 'x', RESULT_STORE: 'x', VIDEOGEN_SECRET_FILE: 'x', PORT: 'x' };
    const others = { TEMPORAL_ADDRESS: 'x', PGSSLMODE: 'x', VIDEOGEN_MODELS: 'x', LOG_LEVEL: 'x' };
    // These are read by a library, and as a file.
    const indirect = { OTEL_SERVICE_NAME: 'x', DATABASE_URL_FILE: 'x', SMTP_URL_FILE: 'x' };
    const allowed = { PATH: 'p', HOME: 'h', TEMPORAL_CLI_PATH: 't', FFMPEG_PATH: 'f', TERM: 'xterm' };
    const environment = { ...strangers, ...others, ...indirect, ...allowed };
    removeSettingsForDemo(environment);
    assert.deepEqual(environment, allowed);
  });
});
