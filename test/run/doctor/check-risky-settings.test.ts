import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import fileSystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import { checkMemory, checkNode, uploadSpaceThresholds } from '../../../src/run/doctor/check-machine.ts';
import {
  checkAllowList,
  checkCatalogue,
  resubmittingProvidersFinding,
  checkPublicUrl,
  checkSecretEntropy,
} from '../../../src/run/doctor/check-risky-settings.ts';
import {
  checkEmbeddedFolderDisk,
  checkFreeSpace,
  checkStore,
  diskErrorFinding,
  videoSpaceThresholds,
} from '../../../src/run/doctor/check-store-and-disk.ts';
import { catalogueFrom } from '../../providers/open-providers-stage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { failure, runChecks, redactSecretsInFindings } from '../../../src/run/doctor/checks-and-findings.ts';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';

const random = '5b0c0b5f3a0d8c1e9f6a7b2d4c3e1f08';

for (const [secret, state] of [
  [random, 'ok'],
  ['x'.repeat(64), 'warning'],
  ['abab'.repeat(10), 'warning'],
  ...['please-change-me', 'changeMe', 'Secret', 'password', 'example', 'videogen', '0123456789', 'qwerty'].map(
    (word) => [`${word}-${random}`, 'warning'] as const,
  ),
] as const) {
  test(`a secret such as ${secret.slice(0, 20)} is ${state}, and is not shown`, () => {
    const finding = checkSecretEntropy(secret);
    assert.equal(finding.state, state);
    assert.ok(!JSON.stringify(finding).includes(secret));
  });
}

const shared = { host: '0.0.0.0', port: 3000, databaseUrl: 'postgres://db/x' };
for (const [publicUrl, state, reason] of [
  [undefined, 'warning', /is not set/],
  ['https://video.example.com', 'ok', /^https:/],
  ['http://video.example.com', 'warning', /unencrypted/],
  ['https://10.0.0.7', 'warning', /is private/],
  ['https://videos', 'warning', /is private/],
  ['http://localhost:3000', 'warning', /own machine/],
  ['https://app.localhost', 'warning', /own machine/],
  ['https://127.0.0.1', 'warning', /own machine/],
  ['https://[::1]', 'warning', /own machine/],
  ['https://0.0.0.0', 'error', /can reach/],
  ['https://224.0.0.1', 'error', /can reach/],
  ['https://255.255.255.255', 'error', /can reach/],
  ['https://video.example.com/app', 'error', /more than scheme/],
  ['https://video.example.com?a=b', 'error', /more than scheme/],
  ['https://films@video.example.com', 'error', /more than scheme/],
] as const) {
  test(`the public address ${publicUrl} of a shared service is ${state}`, () => {
    const finding = checkPublicUrl({ ...shared, publicUrl });
    assert.equal(finding.state, state);
    assert.match(finding.message, reason);
  });
}

test('the address of a service of one machine may be that machine', () => {
  for (const publicUrl of [undefined, 'http://localhost:3000'])
    assert.equal(checkPublicUrl({ ...shared, databaseUrl: undefined, publicUrl }).state, 'ok');
});

for (const [list, state, named] of [
  ['', 'ok', ''],
  ['hooks.internal:8080', 'ok', 'hooks.internal:8080'],
  ['10.0.0.0/8', 'warning', '10.0.0.0/8'],
  ['0.0.0.0/0', 'warning', '0.0.0.0/0'],
  ['8.0.0.0/7', 'warning', '8.0.0.0/7'],
  ['8.0.0.0/8', 'ok', ''],
  ['127.0.0.1', 'warning', '127.0.0.1'],
  ['10.0.0.1:8080', 'warning', '10.0.0.1:8080'],
  ['169.254.169.254', 'error', '169.254.169.254'],
] as const) {
  test(`an allow-list of "${list}" is ${state}`, () => {
    const finding = checkAllowList('CALLBACK_ALLOW', parseAllowList(list), true);
    assert.deepEqual([finding.check, finding.state], ['callback addresses', state]);
    const ofImages = checkAllowList('IMAGE_ALLOW', parseAllowList(list), true);
    assert.deepEqual([ofImages.check, ofImages.state], ['image addresses', state]);
    assert.ok(finding.message.includes(named), finding.message);
  });
}

for (const [list, state] of [
  ['127.0.0.1', 'ok'],
  ['127.0.0.1,localhost:9000', 'ok'],
  ['::1', 'ok'],
  ['127.0.0.1,gpu.internal:9000', 'warning'],
  ['127.0.0.1,10.0.0.0/8', 'warning'],
] as const) {
  test(`on a machine of one's own an allow-list of "${list}" is ${state}`, () => {
    const finding = checkAllowList('CALLBACK_ALLOW', parseAllowList(list), false);
    assert.equal(finding.state, state);
    for (const entry of list.split(','))
      assert.ok(finding.message.includes(entry.replace(/\/\d+$/, '')), finding.message);
  });
}

test('a secret that the catalogue refers to must be there where it is needed, and only there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-doctor-'));
  const path = join(folder, 'catalogue.json');
  const providers = { script: { kind: 'own', baseUrl: 'http://gpu:9000', key: { env: 'DOCTOR_TEST_NO_SUCH' } } };
  const models = [{ model: 'm', title: 'M', prices: [{ creditsPerSecond: 7 }], providers: ['script'] }];
  writeFileSync(path, JSON.stringify({ providers, models }));
  const config = readConfig({ VIDEOGEN_MODELS: path });
  assert.deepEqual(
    [true, false].map((needs) => checkCatalogue(config, needs).map(({ state }) => state)),
    [['error'], ['ok']],
  );
  assert.match(checkCatalogue(config, true)[0]?.message ?? '', /providers\.script\.key: .*is not set/);
  const [builtIn, ...others] = checkCatalogue(readConfig({}), true);
  assert.deepEqual([builtIn?.state, others], ['ok', []]);
  assert.match(builtIn?.message ?? '', /^the built-in one: /);
  rmSync(folder, { recursive: true });
});

test('an old Node.js is an error, and a small container a warning', () => {
  assert.deepEqual(
    ['18.20.0', '20.18.9', '20.19.0', '22.1.0'].map((version) => checkNode(version).state),
    ['error', 'error', 'ok', 'ok'],
  );
  const mebibyte = 1024 * 1024;
  const stateOf = (renders: boolean, megabytes: number) => checkMemory(renders, megabytes * mebibyte).state;
  assert.deepEqual([stateOf(true, 1024), stateOf(true, 1023)], ['ok', 'warning']);
  assert.deepEqual([stateOf(false, 512), stateOf(false, 511)], ['ok', 'warning']);
  assert.match(checkMemory(false, 300 * mebibyte).message, /^300 MB, the limit of this container/);
  for (const none of [0, 2 ** 63]) assert.match(checkMemory(false, none).message, /^\d{4,} MB$/);
});

test('a check that throws is an error, one that hangs an error when its time is over, and the others are reported', async () => {
  const findings = await runChecks(
    [
      { name: 'throwing', run: () => Promise.reject(new AggregateError([new Error('refused'), new Error('lost')])) },
      { name: 'hanging', run: () => new Promise(() => {}) },
      { name: 'fine', run: () => Promise.resolve([failure('fine', 'a', 'b')]) },
    ],
    50,
  );
  assert.deepEqual(findings, [
    failure('throwing', 'refused; lost', 'Correct what the message names.'),
    failure('hanging', 'no answer within 0.05 s', 'Check firewalls, and whether the host is up.'),
    failure('fine', 'a', 'b'),
  ]);
});

test('what is shown holds no secret, wherever an error carried it', () => {
  const found = [failure('database', 'cannot reach postgres://u:pass word@db', 'not pass word')];
  assert.deepEqual(redactSecretsInFindings(found, ['pass word', undefined, '']), [
    failure('database', 'cannot reach postgres://u:[secret]@db', 'not [secret]'),
  ]);
  // Shorter ones are also parts of words.
  const short = { check: 'database', state: 'ok', message: 'as of abcd' } as const;
  assert.deepEqual(redactSecretsInFindings([short], ['abc', 'abcd']), [{ ...short, message: 'as of [secret]' }]);
  assert.deepEqual(redactSecretsInFindings([short], ['abc']), [short]);
});

test('a folder with less room than its files need is an error, with little more a warning', async () => {
  const stateOf = async (leastBytes: number, enoughBytes: number) =>
    (await checkFreeSpace('work folder', tmpdir(), { leastBytes, enoughBytes })).map(({ state }) => state);
  assert.deepEqual(await stateOf(Infinity, Infinity), ['error']);
  assert.deepEqual(await stateOf(0, Infinity), ['warning']);
  assert.deepEqual(await stateOf(0, 0), ['ok']);
  assert.deepEqual(await checkFreeSpace('work folder', '/no/such/folder', videoSpaceThresholds), []);
});

test('a full disk is an error, whatever its files need, and for a folder of the servers, too', async (t) => {
  const full = { bavail: 5, blocks: 2_000_000, bsize: 1_000_000, files: 0, ffree: 0 };
  const mocked = t.mock.method(fileSystem, 'statfs', () => Promise.resolve(full));
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  const folder = tmpdir();
  const message = `disk full: 5 MB free in ${folder}; no tasks are accepted`;
  const found = [
    ...(await checkFreeSpace('work folder', folder, { leastBytes: 0, enoughBytes: 0 })),
    ...(await checkEmbeddedFolderDisk('database', folder)),
  ];
  assert.deepEqual(
    found.map(({ remedy: _remedy, ...finding }) => finding),
    ['work folder', 'database'].map((check) => ({ check, state: 'error', message })),
  );
});

test('an API needs room for the uploads that it checks at a time, and a worker for videos', () => {
  const { leastBytes, enoughBytes } = uploadSpaceThresholds;
  assert.deepEqual([enoughBytes / leastBytes, videoSpaceThresholds], [1.2, { leastBytes: 500e6, enoughBytes: 5e9 }]);
});

test('a store in a folder is tried with a file that is deleted again, and has its own room', async (t) => {
  const folder = await temporaryFolder(t);
  const [path, temp] = [join(folder, 'results'), await temporaryFolder(t)];
  const findings = await checkStore('RESULT_STORE_ALSO', { kind: 'folder', path }, {}, temp);
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['second result store', 'second result store space'],
  );
  assert.equal(findings[0]?.state, 'ok');
  const left = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.deepEqual([left, readdirSync(temp)], [[], []]);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const [broken, ...others] = await checkStore('RESULT_STORE', { kind: 'folder', path: file }, {}, temp);
  assert.deepEqual([broken?.check, broken?.state, others], ['result store', 'error', []]);
  assert.match(broken?.remedy ?? '', /^Correct RESULT_STORE /);
});

test('a disk that is full or read-only is an error of its own, and another error is not of the disk', async (t) => {
  const explained = (code: string) => diskErrorFinding('store', '/srv', Object.assign(new Error('a test'), { code }));
  const [full, readOnly] = ['ENOSPC', 'EROFS'].map(explained);
  assert.deepEqual([full?.state, full?.message], ['error', 'disk full: /srv']);
  assert.deepEqual([readOnly?.state, readOnly?.message], ['error', 'disk read-only: /srv']);
  assert.match(full?.remedy ?? '', /^Free some space/);
  assert.match(readOnly?.remedy ?? '', /^Check the disk/);
  assert.equal(explained('EACCES'), undefined);
  const folder = await temporaryFolder(t);
  assert.deepEqual(await checkEmbeddedFolderDisk('database', join(folder, 'none')), []);
  const [finding, ...others] = await checkEmbeddedFolderDisk('database', folder);
  assert.deepEqual([finding?.check, finding?.state, others], ['database', 'ok', []]);
});

test('providers whose lost jobs are made again are named', () => {
  const own = { kind: 'own', baseUrl: 'http://studio.example' };
  const providers = { again: { ...own, onLostJob: 'resubmit' }, once: { ...own, onLostJob: 'fail' } };
  const tiers = [[{ provider: 'again', model: 'wan' }], [{ provider: 'once', model: 'wan' }]];
  const models = [{ model: 'film', title: 'Film', prices: [{ creditsPerSecond: 1 }], tiers }];
  const [finding, ...others] = resubmittingProvidersFinding({ catalogue: catalogueFrom({ providers, models }) });
  assert.match(finding?.message ?? '', /^again \(own\): /);
  assert.deepEqual([finding?.check, finding?.state, others], ['lost jobs', 'ok', []]);
  assert.deepEqual(resubmittingProvidersFinding(readConfig({})), []);
});
