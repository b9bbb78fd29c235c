import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { SetupError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { secretHeadersOf, secretQueryOf } from '../../../src/providers/http/headers-and-query.ts';
import { shippedFile } from './shipped-file.ts';

const key = () => 'the-key';

test('a key is a bearer token, or stands in the header of the file behind its prefix', () => {
  assert.deepEqual(secretHeadersOf(shippedFile('runway').auth, { key }), { authorization: 'Bearer the-key' });
  assert.deepEqual(secretHeadersOf(shippedFile('fal-seedance').auth, { key }), { authorization: 'Key the-key' });
});

test('a token is signed anew with the two secrets, for each request', () => {
  let now = 1_700_000_000_900;
  const named = new Map([
    ['accessKey', () => 'AK'],
    ['secretKey', () => 'SK'],
  ]);
  const headers = () => secretHeadersOf(shippedFile('kling').auth, { named }, now);
  const [head = '', claims = '', signature] = (headers()['authorization'] ?? '').replace('Bearer ', '').split('.');
  const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown;
  assert.deepEqual(decoded(head), { alg: 'HS256', typ: 'JWT' });
  assert.deepEqual(decoded(claims), { iss: 'AK', exp: 1_700_001_800, nbf: 1_699_999_995 });
  assert.equal(signature, createHmac('sha256', 'SK').update(`${head}.${claims}`).digest('base64url'));
  const first = headers();
  now += 60_000;
  assert.notDeepEqual(headers(), first);
});

test('a key in the query is in no header, and every other one is not in the query', () => {
  const query = { kind: 'query', name: 'key' } as const;
  assert.deepEqual(secretHeadersOf(query, { key: () => 'the-key' }), {});
  assert.deepEqual(secretQueryOf(query, { key: () => 'the-key' }), { key: 'the-key' });
  assert.deepEqual(secretHeadersOf({ kind: 'none' }, {}), {});
  for (const auth of [{ kind: 'none' }, { kind: 'bearer' }] as const)
    assert.deepEqual(secretQueryOf(auth, { key: () => 'the-key' }), {});
  const header = { kind: 'header', name: 'X-API-Key', prefix: 'v1 ' } as const;
  assert.deepEqual(secretHeadersOf(header, { key: () => 'the-key' }), { 'x-api-key': 'v1 the-key' });
});

test('a secret that the catalogue does not name is a fault of the installation', () => {
  assert.throws(() => secretHeadersOf(shippedFile('runway').auth, {}), { name: 'SetupError', message: /needs `key`/ });
  assert.throws(() => secretHeadersOf(shippedFile('kling').auth, {}), { message: /needs `secrets\.accessKey`/ });
});

test('a token for Google Cloud is signed with the key of the service account, which the public key verifies', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keyFile = {
    type: 'service_account',
    client_email: 'videos@project.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    private_key_id: 'key-1',
  };
  const auth = {
    kind: 'googleServiceAccount',
    secret: 'account',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
  } as const;
  const named = new Map([['account', () => JSON.stringify(keyFile)]]);
  const { authorization = '' } = secretHeadersOf(auth, { named }, 1_700_000_000_900);
  const [head = '', claims = '', signature = ''] = authorization.replace('Bearer ', '').split('.');
  const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown;
  assert.deepEqual(decoded(head), { alg: 'RS256', typ: 'JWT', kid: 'key-1' });
  assert.deepEqual(decoded(claims), {
    iss: 'videos@project.iam.gserviceaccount.com',
    sub: 'videos@project.iam.gserviceaccount.com',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    iat: 1_699_999_995,
    exp: 1_700_003_595,
  });
  const unnamed = new Map([['account', () => JSON.stringify({ ...keyFile, private_key_id: undefined })]]);
  const [withoutId = ''] = (secretHeadersOf(auth, { named: unnamed })['authorization'] ?? '').slice(7).split('.');
  assert.deepEqual(decoded(withoutId), { alg: 'RS256', typ: 'JWT' });
  const signed = Buffer.from(`${head}.${claims}`);
  assert.ok(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url')));
});

for (const [what, text] of [
  ['no JSON', 'PRIVATE KEY'],
  ['another JSON', '{"private_key": "x"}'],
  [
    'a broken key',
    '{"client_email": "a@b", "private_key": "-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----\\n"}',
  ],
] as const) {
  test(`a secret with ${what} instead of the key of a service account is a fault of the installation, which no message repeats`, () => {
    const auth = { kind: 'googleServiceAccount', secret: 'account', scope: 'x' } as const;
    const named = new Map([['account', () => text]]);
    assert.throws(
      () => secretHeadersOf(auth, { named }),
      (error) => {
        assert.ok(error instanceof SetupError);
        assert.match(error.message, /secrets\.account/);
        assert.ok(!error.message.includes('AAAA'));
        return true;
      },
    );
  });
}
