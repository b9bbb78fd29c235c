import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretBox, SecretBoxError } from '../../../src/platform/secrets/secret-box.ts';
import { newCallbackSecret } from '../../../src/platform/outbound/webhook-signature.ts';

const box = createSecretBox('a secret of this installation');

test('what was sealed opens again, and looks different each time', () => {
  const [first, second] = [box.seal('whsec_abc', 'account-1'), box.seal('whsec_abc', 'account-1')];
  assert.notEqual(first, second);
  assert.equal(box.open(first, 'account-1'), 'whsec_abc');
  assert.equal(box.open(second, 'account-1'), 'whsec_abc');
  assert.ok(!first.includes('whsec'));
});

test('a sealed secret moved to another account does not open', () => {
  assert.throws(() => box.open(box.seal('s', 'account-1'), 'account-2'), SecretBoxError);
});

test('another VIDEOGEN_SECRET does not open it', () => {
  const other = createSecretBox('another secret');
  assert.throws(() => other.open(box.seal('s', 'account-1'), 'account-1'), SecretBoxError);
});

test('what a previous VIDEOGEN_SECRET sealed opens, and is not current; each purpose has a key of its own', () => {
  const [old, next] = [createSecretBox('first'), createSecretBox('second', ['first'])];
  const [before, after] = [old.seal('whsec_abc', 'account-1'), next.seal('whsec_abc', 'account-1')];
  assert.deepEqual([next.open(before, 'account-1'), next.open(after, 'account-1')], ['whsec_abc', 'whsec_abc']);
  assert.deepEqual([next.isCurrent(before, 'account-1'), next.isCurrent(after, 'account-1')], [false, true]);
  assert.equal(next.isCurrent(after, 'account-2'), false);
  assert.throws(() => old.open(after, 'account-1'), SecretBoxError);
  assert.throws(() => createSecretBox('first', [], 'another purpose').open(before, 'account-1'), SecretBoxError);
});

test('no byte of it can be changed', () => {
  const sealed = box.seal('secret', 'account-1');
  const bytes = Buffer.from(sealed.slice(3), 'base64url');
  for (let i = 0; i < bytes.length; i += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    assert.throws(() => box.open(`v1.${changed.toString('base64url')}`, 'account-1'), SecretBoxError);
  }
});

test('what is no sealed secret is refused with the same error', () => {
  for (const text of ['', 'v1.', 'v1.AAAA', 'v2.' + box.seal('s', 'a').slice(3), 'plain']) {
    assert.throws(() => box.open(text, 'a'), SecretBoxError);
  }
});

test('an empty VIDEOGEN_SECRET is not accepted', () => {
  assert.throws(() => createSecretBox(''));
});

test('a new secret has 32 bytes of its own', () => {
  const secrets = new Set(Array.from({ length: 100 }, newCallbackSecret));
  assert.equal(secrets.size, 100);
  for (const secret of secrets) assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
});
