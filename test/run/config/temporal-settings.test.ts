import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporalProblems } from '../../../src/run/config/temporal-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'videogen-temporal-'));
after(() => rmSync(folder, { recursive: true }));

test('an address is a host with a port from 1 to 65535, or without one', () => {
  for (const address of ['temporal:7233', 'a.b-c_d.example:1', '10.0.0.1:65535', '[::1]:7233', 'temporal', '[fd00::7]'])
    assert.deepEqual(temporalProblems({ TEMPORAL_ADDRESS: address }), [], address);
  const wrong = [
    'http://temporal:7233',
    'temporal:0',
    'temporal:65536',
    'temporal:',
    'temporal:123456',
    '::1:7233',
    'a b:1',
    '',
  ];
  for (const address of wrong) {
    const [problem, ...others] = temporalProblems({ TEMPORAL_ADDRESS: address });
    assert.match(problem ?? '', /^TEMPORAL_ADDRESS: must be a host and a port/, address);
    assert.deepEqual(others, []);
  }
});

test('each file of TLS must be readable, and a certificate has a key', () => {
  const path = join(folder, 'file.pem');
  writeFileSync(path, 'a certificate');
  const missing = join(folder, 'missing.pem');
  const address = { TEMPORAL_ADDRESS: 'temporal:7233' };
  const pair = { TEMPORAL_TLS_CLIENT_CERT_PATH: path, TEMPORAL_TLS_CLIENT_KEY_PATH: path };
  assert.deepEqual(temporalProblems({ ...address, ...pair, TEMPORAL_TLS_SERVER_CA_CERT_PATH: path }), []);
  for (const name of ['CLIENT_CERT_PATH', 'CLIENT_KEY_PATH', 'SERVER_CA_CERT_PATH']) {
    const [problem, ...others] = temporalProblems({ ...address, ...pair, [`TEMPORAL_TLS_${name}`]: missing });
    assert.match(problem ?? '', new RegExp(`^TEMPORAL_TLS_${name}: .*missing\\.pem`));
    assert.deepEqual(others, []);
  }
  for (const [name, value] of Object.entries({
    ...pair,
    TEMPORAL_TLS_CLIENT_CERT_DATA: 'text',
    TEMPORAL_TLS_CLIENT_KEY_DATA: 'text',
  }))
    assert.match(
      temporalProblems({ ...address, [name]: value })[0] ?? '',
      /certificate and its key must be set together/,
    );
  const twice = { ...address, ...pair, TEMPORAL_TLS_CLIENT_CERT_DATA: 'text' };
  assert.match(temporalProblems(twice).join(), /^TEMPORAL_…: /, 'as a path and as text');
});

test('the check of the host cannot be switched off', () => {
  const disabled = (value: string) => temporalProblems({ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: value });
  for (const value of ['1', 'true', 'TRUE']) assert.match(disabled(value)[0] ?? '', /has no effect.*SERVER_NAME/);
  for (const value of ['', '0', 'false']) assert.deepEqual(disabled(value), []);
});
