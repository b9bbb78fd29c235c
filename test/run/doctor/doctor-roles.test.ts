import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import {
  redirectAdviceToCause,
  type DoctorRole,
  checkNodeAndMemory,
  runDoctorChecks,
  secretsToRedact,
} from '../../../src/run/doctor/doctor.ts';
import { failure, ok, warning } from '../../../src/run/doctor/checks-and-findings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const servers = ['database', 'temporal'];
const files = ['result store', 'result store space', 'work folder', 'temporary folder'];
const machine = ['node', 'memory'];

const rows: readonly [role: DoctorRole, queues: string, checks: readonly string[]][] = [
  ['api', 'tasks', ['public address', 'callback addresses', 'catalogue', ...servers, ...files, ...machine]],
  ['worker', 'callbacks', ['callback addresses', 'catalogue', ...servers, ...machine]],
  ['worker', 'tasks', ['catalogue', ...servers, ...files, 'ffmpeg', ...machine]],
  ['worker', 'generation', ['image addresses', 'catalogue', ...servers, ...files, 'ffmpeg', 'fonts', ...machine]],
  ['worker', 'generation-remote', ['image addresses', 'catalogue', ...servers, ...files, 'ffmpeg', ...machine]],
  [
    'all',
    'tasks',
    [
      'public address',
      'callback addresses',
      'image addresses',
      'catalogue',
      ...servers,
      ...files,
      'ffmpeg',
      'fonts',
      ...machine,
    ],
  ],
];

for (const [role, queues, checks] of rows) {
  test(`doctor checks for the role ${role}, with the queue ${queues}, what this process needs`, async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, 'work'), { mode: 0o700 });
    const config = readConfig({
      PATH: process.env['PATH'],
      VIDEOGEN_DATA: folder,
      WORKER_QUEUES: queues,
    });
    const findings = await runDoctorChecks(
      config,
      { databaseUrl: undefined, temporal: undefined, secret: undefined },
      role,
    );
    assert.deepEqual(
      findings.map(({ check }) => check),
      checks,
    );
    const unknown = findings.filter(({ state }) => state === 'unknown').map(({ check }) => check);
    assert.deepEqual(unknown, servers, 'servers that do not run are not checked');
  });
}

test('a worker of a shared service has a public address to check, because it makes links', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'work'), { mode: 0o700 });
  const shared = { DATABASE_URL: 'postgres://db.test/films', VIDEOGEN_SECRET: 's'.repeat(32) };
  const config = readConfig({ ...shared, VIDEOGEN_DATA: folder, WORKER_QUEUES: 'callbacks' });
  const none = { databaseUrl: undefined, temporal: undefined, secret: undefined };
  const findings = await runDoctorChecks(config, none, 'worker');
  assert.deepEqual(
    findings.slice(0, 2).map(({ check, state }) => [check, state]),
    [
      ['public address', 'warning'],
      ['callback addresses', 'ok'],
    ],
  );
});

test('without a usable configuration doctor checks the machine', () => {
  assert.deepEqual(
    checkNodeAndMemory().map(({ check }) => check),
    machine,
  );
});

test('a full disk is named first, and what follows from it, or from the database, has its remedy', () => {
  const database = failure('database', 'refused', 'of the database');
  const temporal = failure('temporal', 'refused', 'of Temporal');
  const installation = failure('installation', 'not read', 'of the installation');
  const mail = failure('mail server', 'refused', 'of mails');
  const store = ok('result store', 'works');
  const disk = failure('work folder', 'disk full: /srv', 'of the disk');
  const readOnly = failure('result store', 'disk read-only: /mnt', 'of the mount');
  const found = [store, database, temporal, installation, mail];
  const after = (cause: string) => ({ remedy: `Correct "${cause}" first, then run doctor again.` });
  assert.deepEqual(redirectAdviceToCause([...found, disk, readOnly]), [
    disk,
    readOnly,
    store,
    { ...database, ...after('work folder') },
    { ...temporal, ...after('work folder') },
    { ...installation, ...after('work folder') },
    mail,
  ]);
  assert.deepEqual(redirectAdviceToCause(found), [
    store,
    database,
    temporal,
    { ...installation, ...after('database') },
    mail,
  ]);
  const others = [
    warning('database', 'old', 'of its age'),
    temporal,
    installation,
    warning('work folder', 'disk full soon', 'of the disk'),
    failure('work folder', 'not writable', 'of the folder'),
  ];
  assert.deepEqual(redirectAdviceToCause(others), others);
});

test('doctor shows none of the secrets that it knows', () => {
  const config = readConfig({
    VIDEOGEN_SECRET_PREVIOUS: 'p'.repeat(32),
    VIDEOGEN_API_KEY: 'api-key',
    VIDEOGEN_OPERATOR_KEY: 'operator-key',
    OIDC_ISSUER: 'https://issuer.test',
    OIDC_CLIENT_ID: 'films',
    OIDC_CLIENT_SECRET: 'oidc-secret',
    MODERATION_KEY: 'moderation-key',
    STRIPE_SECRET_KEY: 'sk_test_12345678',
    STRIPE_WEBHOOK_SECRET: 'whsec_12345678',
    SMTP_URL: 'smtp://films:mail-password@mail.test',
    SMTP_FROM: 'no-reply@films.test',
  });
  const running = {
    databaseUrl: 'postgres://films:a%40b@db.test/films',
    temporal: { connection: { address: 'temporal.test:7233', apiKey: 'temporal-key' }, namespace: 'default' },
    secret: 'the-secret',
  };
  assert.deepEqual(secretsToRedact(config, running), [
    'the-secret',
    'postgres://films:a%40b@db.test/films',
    'a%40b',
    'a@b',
    'temporal-key',
    'api-key',
    'operator-key',
    'oidc-secret',
    'moderation-key',
    'sk_test_12345678',
    'whsec_12345678',
    'mail-password',
    'mail-password',
    'p'.repeat(32),
  ]);
  const broken = { ...running, databaseUrl: 'postgres://films:100%@db.test/films', temporal: undefined };
  assert.deepEqual(secretsToRedact(config, broken).slice(2, 5), ['100%', '100%', undefined]);
});

test('both stores, the mail server, the check of content and running servers are checked where they are set', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'work'), { mode: 0o700 });
  const config = readConfig({
    PATH: process.env['PATH'],
    VIDEOGEN_DATA: folder,
    WORKER_QUEUES: 'generation',
    RESULT_STORE: join(folder, 'first'),
    RESULT_STORE_ALSO: join(folder, 'second'),
    // Port 1 of this machine refuses connections.
    SMTP_URL: 'smtp://127.0.0.1:1',
    SMTP_FROM: 'no-reply@films.test',
    MODERATION_URL: 'http://127.0.0.1:1/',
  });
  const running = {
    databaseUrl: undefined,
    temporal: undefined,
    secret: 's'.repeat(32),
    folders: { 'a folder': folder },
  };
  const stores = ['result store', 'result store space', 'second result store', 'second result store space'];
  const folders = ['work folder', 'temporary folder'];
  const hooks = ['mail server', 'moderation'];
  const addresses = ['public address', 'callback addresses'];
  for (const [role, expected] of [
    ['api', ['secret', ...addresses, 'catalogue', ...servers, ...stores, ...hooks, ...folders, ...machine]],
    [
      'worker',
      ['secret', 'image addresses', 'catalogue', ...servers, ...stores, ...folders, 'ffmpeg', 'fonts', ...machine],
    ],
    [
      'all',
      [
        'secret',
        ...addresses,
        'image addresses',
        'catalogue',
        ...servers,
        ...stores,
        ...hooks,
        ...folders,
        'a folder',
        'ffmpeg',
        'fonts',
        ...machine,
      ],
    ],
  ] as const) {
    const findings = await runDoctorChecks(config, running, role);
    assert.deepEqual(
      findings.map(({ check }) => check),
      expected,
    );
    const messageOf = (name: string) => findings.find(({ check }) => check === name)?.message ?? '';
    assert.ok(messageOf('result store').includes(join(folder, 'first')));
    assert.ok(messageOf('second result store').includes(join(folder, 'second')));
  }
});
