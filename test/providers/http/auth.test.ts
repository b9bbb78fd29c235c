import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { credentialsOf } from '../../../src/providers/http/auth.ts';
import { shippedFile } from './shipped-file.ts';

const key = () => 'the-key';

test('a key is a bearer token, or stands in the header of the file behind its prefix', () => {
  assert.deepEqual(credentialsOf(shippedFile('runway').auth, { key })(), { authorization: 'Bearer the-key' });
  assert.deepEqual(credentialsOf(shippedFile('fal-seedance').auth, { key })(), { authorization: 'Key the-key' });
});

test('a token is signed anew with the two secrets, for each request', () => {
  let now = 1_700_000_000_900;
  const named = new Map([
    ['accessKey', () => 'AK'],
    ['secretKey', () => 'SK'],
  ]);
  const headers = credentialsOf(shippedFile('kling').auth, { named }, () => now);
  const [head = '', claims = '', signature] = (headers()['authorization'] ?? '').replace('Bearer ', '').split('.');
  const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown;
  assert.deepEqual(decoded(head), { alg: 'HS256', typ: 'JWT' });
  assert.deepEqual(decoded(claims), { iss: 'AK', exp: 1_700_001_800, nbf: 1_699_999_995 });
  assert.equal(signature, createHmac('sha256', 'SK').update(`${head}.${claims}`).digest('base64url'));
  const first = headers();
  now += 60_000;
  assert.notDeepEqual(headers(), first);
});

test('a secret that the catalogue does not name is a fault of the installation', () => {
  assert.throws(() => credentialsOf(shippedFile('runway').auth, {})(), { name: 'SetupError', message: /needs `key`/ });
  assert.throws(() => credentialsOf(shippedFile('kling').auth, {})(), { message: /needs `secrets\.accessKey`/ });
});
