import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiKeyHint, hashApiKey, isWellFormedKey, generateApiKey } from '../../../src/accounts/keys/key-format.ts';

// Keys that an earlier release has given out must stay well-formed, and their hashes the same.
const entropy = '0123456789ABCDEFGHIJKLMNOPQRST';
const given = `vg_${entropy}4PMbyp`;

test('a key that an earlier release has given out is well-formed, and its hash is SHA-256', () => {
  assert.ok(isWellFormedKey(given));
  assert.ok(isWellFormedKey(`vgop_${entropy}4PMbyp`, 'operator'));
  assert.ok(isWellFormedKey('vg_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz4IlJEz'));
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  assert.equal(hashApiKey('').toString('hex'), empty);
});

test('a key with a typo, of another length or of the other kind is not', () => {
  for (let index = 0; index < given.length; index += 1) {
    const other = given[index] === 'x' ? 'y' : 'x';
    assert.ok(!isWellFormedKey(given.slice(0, index) + other + given.slice(index + 1)), `character ${index}`);
  }
  for (const key of ['', 'vg_', given.slice(0, -1), `${given}0`, ` ${given}`, `${given}\n`])
    assert.ok(!isWellFormedKey(key), key);
  assert.ok(!isWellFormedKey(given, 'operator'));
  assert.ok(!isWellFormedKey(generateApiKey('operator'), 'client'));
});

test('new keys are well-formed and differ', () => {
  const keys = Array.from({ length: 100 }, () => generateApiKey());
  assert.ok(keys.every((key) => isWellFormedKey(key)) && isWellFormedKey(generateApiKey('operator'), 'operator'));
  assert.equal(new Set(keys).size, 100);
});

test('a hint shows four characters at each end', () => {
  assert.deepEqual([given, `vgop_${entropy}4PMbyp`].map(apiKeyHint), ['vg_0123…Mbyp', 'vgop_0123…Mbyp']);
});
