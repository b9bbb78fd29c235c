import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callbackKey, newCallbackSecret } from '../../src/outbound/callback-secret.ts';

const encoded = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;

test('a new secret has 32 bytes of its own', () => {
  const secrets = new Set(Array.from({ length: 100 }, newCallbackSecret));
  assert.equal(secrets.size, 100);
  for (const secret of secrets) assert.equal(callbackKey(secret).length, 32);
});

test('keys of 24 to 64 bytes are secrets', () => {
  assert.equal(callbackKey(encoded(24)).length, 24);
  assert.equal(callbackKey(encoded(64)).length, 64);
});

for (const secret of [
  '',
  'whsec_',
  encoded(23),
  encoded(65),
  encoded(32).slice(6),
  `${encoded(32)} `,
  encoded(32).slice(0, -1),
]) {
  test(`"${secret.slice(0, 12)}" of ${secret.length} characters is no secret, and no error shows it`, () => {
    assert.throws(
      () => callbackKey(secret),
      (error) => error instanceof Error && (secret.length < 7 || !error.message.includes(secret.slice(6))),
    );
  });
}
