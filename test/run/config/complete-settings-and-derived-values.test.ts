import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import {
  mergeSettingsFoundAtStart,
  settingsWithNothingEmbedded,
  ownServerAddresses,
} from '../../../src/run/config/complete-settings-and-derived-values.ts';

const plain = {
  host: '127.0.0.1',
  port: 3000,
  metricsPort: undefined,
  databaseUrl: 'postgres://u:p@db.internal/videogen',
  temporal: { connection: { address: 'temporal.internal' }, namespace: 'default' },
  embeddedPorts: [],
};

test('the API, its metrics, PostgreSQL, Temporal and the ports of embedded servers are our own', () => {
  const temporal = { connection: { address: '10.0.0.7:17233' }, namespace: 'default' };
  const databaseUrl = 'postgres://u:p@db.internal:5433/videogen';
  const all = {
    ...plain,
    metricsPort: 9464,
    temporalMetricsPort: 9465,
    databaseUrl,
    temporal,
    embeddedPorts: [18233, 17243],
  };
  assert.deepEqual(ownServerAddresses(all), [
    { host: '127.0.0.1', port: 3000 },
    { host: '127.0.0.1', port: 9464 },
    { host: '127.0.0.1', port: 9465 },
    { host: '127.0.0.1', port: 18233 },
    { host: '127.0.0.1', port: 17243 },
    { host: 'db.internal', port: 5433 },
    { host: '10.0.0.7', port: 17233 },
  ]);
});

test('a port that is not named is the default one', () => {
  assert.deepEqual(ownServerAddresses(plain).slice(1), [
    { host: 'db.internal', port: 5432 },
    { host: 'temporal.internal', port: 7233 },
  ]);
});

for (const [databaseUrl, host, port] of [
  ['postgres://u:p@[::1]:5433/videogen', '[::1]', 5433],
  ['postgres://u@ignored/videogen?host=db.internal&port=6000', 'db.internal', 6000],
  ['postgres:///videogen', 'localhost', 5432],
] as const) {
  test(`the endpoint of ${databaseUrl} is found`, () => {
    assert.deepEqual(ownServerAddresses({ ...plain, databaseUrl })[1], { host, port });
  });
}

test('the address of Temporal may be IPv6', () => {
  const temporal = { connection: { address: '[::1]:7000' }, namespace: 'default' };
  assert.deepEqual(ownServerAddresses({ ...plain, temporal })[2], { host: '[::1]', port: 7000 });
});

test('the settings of a process are its configuration, with what its starter found', () => {
  const payloadKeys = `a:${Buffer.alloc(32, 1).toString('base64')}`;
  const config = readConfig({ VIDEOGEN_DATA: '/srv/data', PORT: '81', TEMPORAL_PAYLOAD_KEYS: payloadKeys });
  const found = {
    databaseUrl: 'postgres://db.internal/videogen',
    temporal: { connection: { address: 'temporal.internal:7233' }, namespace: 'films' },
    temporalUiUrl: 'http://127.0.0.1:8233',
    embeddedPorts: [7],
    secret: 's'.repeat(32),
    resultStore: { kind: 'folder', path: '/srv/results' },
  } as const;
  const settings = mergeSettingsFoundAtStart(config, found);
  assert.deepEqual(settings, {
    ...config,
    ...found,
    temporal: { ...found.temporal, payloadKeys: config.payloadKeys },
    publicUrl: 'http://127.0.0.1:81',
    workFolder: '/srv/data/work',
  });
  assert.equal(settings.temporal.payloadKeys?.length, 1);
  const publicUrl = 'https://films.example';
  assert.equal(mergeSettingsFoundAtStart({ ...config, publicUrl }, found).publicUrl, publicUrl);
});

test('the settings of a process that embeds nothing are its configuration alone', () => {
  const servers = { DATABASE_URL: 'postgres://db.internal/videogen', TEMPORAL_ADDRESS: 'temporal.internal:7233' };
  const environment = { ...servers, VIDEOGEN_SECRET: 's'.repeat(32), RESULT_STORE: '/srv/results' };
  const { databaseUrl, temporal, secret, resultStore, embeddedPorts } = settingsWithNothingEmbedded(
    readConfig(environment),
  );
  assert.deepEqual(
    [databaseUrl, temporal.connection.address, secret, resultStore, embeddedPorts],
    [servers.DATABASE_URL, servers.TEMPORAL_ADDRESS, 's'.repeat(32), { kind: 'folder', path: '/srv/results' }, []],
  );
  const { RESULT_STORE, ...incomplete } = environment;
  assert.throws(() => settingsWithNothingEmbedded(readConfig(incomplete)), /isExternal/, RESULT_STORE);
});
