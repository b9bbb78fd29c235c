import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { catalogueSecretReader } from '../../../src/run/config/config.ts';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';

const model = { model: 'm', title: 'M', prices: [{ creditsPerSecond: 7 }] };

test('a secret is read when it is used, and is in nothing that can be printed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-catalogue-'));
  const secret = 'sk-live-marker';
  const path = join(folder, 'catalogue.yaml');
  const file = (key: object) =>
    writeFileSync(
      path,
      JSON.stringify({ providers: { script: { kind: 'own', baseUrl: 'http://x', key } }, models: [model] }),
    );
  const environment: Record<string, string> = { SCRIPT_KEY: secret };
  const readSecret = catalogueSecretReader(folder, environment);
  writeFileSync(join(folder, 'script.key'), `${secret}\n`);
  for (const key of [{ env: 'SCRIPT_KEY' }, { file: './script.key' }]) {
    file(key);
    const catalogue = readCatalogueOrThrow({ path, readSecret });
    const held = { catalogue, provider: catalogue.providers.get('script'), readSecret, give: readSecret(key) };
    assert.equal(held.give(), secret);
    assert.doesNotMatch(JSON.stringify(held) + JSON.stringify([...catalogue.providers, ...catalogue.models]), /marker/);
    assert.doesNotMatch(inspect(held, { depth: Infinity, showHidden: true, getters: true }), /marker/);
  }
  const [fromEnvironment, fromFile] = [readSecret({ env: 'SCRIPT_KEY' }), readSecret({ file: 'script.key' })];
  environment['SCRIPT_KEY'] = 'rotated';
  writeFileSync(join(folder, 'script.key'), 'rotated');
  assert.deepEqual([fromEnvironment(), fromFile()], ['rotated', 'rotated']);
  rmSync(folder, { recursive: true });
});

test('a missing secret is reported to a worker without its name, path or value; an API needs none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-catalogue-'));
  const path = join(folder, 'catalogue.yaml');
  const keys = [{ env: 'SKLIVE1' }, { file: './sk-live-2' }, { env: 'EMPTY' }, { env: 'LINES' }, { file: '.' }];
  const providers = Object.fromEntries(
    keys.map((key, index) => [`p${index}`, { kind: 'own', baseUrl: 'http://x', key }]),
  );
  writeFileSync(path, JSON.stringify({ providers, models: [model] }));
  assert.equal(readCatalogueOrThrow({ path }).providers.size, keys.length + 1);
  const readSecret = catalogueSecretReader(folder, { EMPTY: ' ', LINES: 'sk-live-3\r\nX-Admin: 1' });
  assert.throws(
    () => readCatalogueOrThrow({ path, readSecret }),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(
        error.problems.map((fault) => fault.replace(`${path}: `, '')),
        [
          'providers.p0.key: is not set: the variable or file that it names is missing or empty',
          'providers.p1.key: refers to a file that cannot be read (ENOENT)',
          'providers.p2.key: is not set: the variable or file that it names is missing or empty',
          'providers.p3.key: must be one line of ASCII in the variable or file that it names',
          'providers.p4.key: refers to a file that cannot be read (EISDIR)',
        ],
      );
      return true;
    },
  );
  rmSync(folder, { recursive: true });
});

test('the key file of a service account, which has several lines of JSON, is read as one line', () => {
  const keyFile = {
    type: 'service_account',
    private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
  };
  const readSecret = catalogueSecretReader('.', { ACCOUNT: JSON.stringify(keyFile, undefined, 2), BROKEN: '{\n"a": ' });
  const secret = readSecret({ env: 'ACCOUNT' })();
  assert.ok(!secret.includes('\n'));
  assert.deepEqual(JSON.parse(secret), keyFile);
  assert.throws(readSecret({ env: 'BROKEN' }), { message: /must be one line of ASCII/ });
});

test('each of the further secrets of a provider must be there, too', () => {
  const secrets = { access: { env: 'ACCESS' }, secret: { env: 'MISSING' }, other: { env: 'EMPTY' } };
  const providers = {
    vendor: { kind: 'http', baseUrl: 'http://x', file: 'builtin:kie', key: { env: 'ACCESS' }, secrets },
  };
  const source = { path: 'x', readText: () => JSON.stringify({ providers, models: [model] }) };
  assert.throws(
    () => readCatalogueOrThrow({ ...source, readSecret: catalogueSecretReader('.', { ACCESS: 'a', EMPTY: '' }) }),
    (error) => {
      assert.ok(error instanceof ConfigError);
      const message = 'is not set: the variable or file that it names is missing or empty';
      assert.deepEqual(
        error.problems,
        ['secret', 'other'].map((name) => `x: providers.vendor.secrets.${name}: ${message}`),
      );
      return true;
    },
  );
});
