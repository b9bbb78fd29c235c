import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import { checkMemory, checkNode } from '../../../src/run/doctor/check-machine.ts';
import {
  checkAllowList,
  checkCatalogue,
  checkPublicUrl,
  checkSecretEntropy,
} from '../../../src/run/doctor/check-settings.ts';
import { checkFreeSpace } from '../../../src/run/doctor/check-store.ts';
import { failure, runChecks, redactSecrets } from '../../../src/run/doctor/checks-and-findings.ts';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';

const random = '5b0c0b5f3a0d8c1e9f6a7b2d4c3e1f08';

for (const [secret, state] of [
  [random, 'ok'],
  ['x'.repeat(64), 'warning'],
  ['abab'.repeat(10), 'warning'],
  [`please-change-me-${random}`, 'warning'],
] as const) {
  test(`a secret such as ${secret.slice(0, 20)} is ${state}, and is not shown`, () => {
    const finding = checkSecretEntropy(secret);
    assert.equal(finding.state, state);
    assert.ok(!JSON.stringify(finding).includes(secret));
  });
}

const shared = { host: '0.0.0.0', port: 3000, databaseUrl: 'postgres://db/x' };
for (const [publicUrl, state] of [
  [undefined, 'warning'],
  ['https://video.example.com', 'ok'],
  ['http://video.example.com', 'warning'],
  ['https://10.0.0.7', 'warning'],
  ['https://videos', 'warning'],
  ['http://localhost:3000', 'warning'],
  ['https://0.0.0.0', 'error'],
  ['https://video.example.com/app', 'error'],
] as const) {
  test(`the public address ${publicUrl} of a shared service is ${state}`, () => {
    assert.equal(checkPublicUrl({ ...shared, publicUrl }).state, state);
  });
}

test('the address of a service of one machine may be that machine', () => {
  assert.equal(checkPublicUrl({ ...shared, databaseUrl: undefined, publicUrl: 'http://localhost:3000' }).state, 'ok');
});

for (const [list, state, named] of [
  ['', 'ok', ''],
  ['hooks.internal:8080', 'ok', 'hooks.internal:8080'],
  ['10.0.0.0/8', 'warning', '10.0.0.0/8'],
  ['0.0.0.0/0', 'warning', '0.0.0.0/0'],
  ['127.0.0.1', 'warning', '127.0.0.1'],
  ['169.254.169.254', 'error', '169.254.169.254'],
] as const) {
  test(`an allow-list of "${list}" is ${state}`, () => {
    const finding = checkAllowList('CALLBACK_ALLOW', parseAllowList(list), true);
    assert.equal(finding.state, state);
    assert.ok(finding.message.includes(named), finding.message);
  });
}

for (const [list, state] of [
  ['127.0.0.1', 'ok'],
  ['127.0.0.1,localhost:9000', 'ok'],
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
  rmSync(folder, { recursive: true });
});

test('an old Node.js is an error, and a small container a warning', () => {
  assert.deepEqual(
    ['18.20.0', '20.18.9', '20.19.0', '22.1.0'].map((version) => checkNode(version).state),
    ['error', 'error', 'ok', 'ok'],
  );
  assert.equal(checkMemory(true, 300 * 1024 * 1024).state, 'warning');
  assert.match(checkMemory(false, 300 * 1024 * 1024).message, /^300 MB, the limit of this container/);
  assert.equal(checkMemory(false, 600 * 1024 * 1024).state, 'ok');
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
  assert.deepEqual(
    findings.map(({ check, message }) => `${check}: ${message}`),
    ['throwing: refused; lost', 'hanging: no answer within 0.05 s', 'fine: a'],
  );
});

test('what is shown holds no secret, wherever an error carried it', () => {
  const found = [failure('database', 'cannot reach postgres://u:pass word@db', 'not pass word')];
  assert.deepEqual(redactSecrets(found, ['pass word', undefined, '']), [
    failure('database', 'cannot reach postgres://u:[secret]@db', 'not [secret]'),
  ]);
});

test('a folder with less room than its files need is an error, with little more a warning', async () => {
  const stateOf = async (leastBytes: number, enoughBytes: number) =>
    (await checkFreeSpace('work folder', tmpdir(), { leastBytes, enoughBytes })).map(({ state }) => state);
  assert.deepEqual(await stateOf(Infinity, Infinity), ['error']);
  assert.deepEqual(await stateOf(0, Infinity), ['warning']);
  assert.deepEqual(await stateOf(0, 0), ['ok']);
});
