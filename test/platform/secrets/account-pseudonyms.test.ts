import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccountPseudonymizer } from '../../../src/platform/secrets/account-pseudonyms.ts';

test('the pseudonym of an account is that of the current secret, and those of the previous ones follow', () => {
  const [old, current] = ['o'.repeat(32), 'n'.repeat(32)];
  const hashesBy = (secret: string, secretPrevious?: readonly string[]) =>
    createAccountPseudonymizer({ secret, secretPrevious })('account-1');
  const [[before], [after]] = [hashesBy(old), hashesBy(current)];
  assert.deepEqual(hashesBy(current, [old]), [after, before]);
  assert.deepEqual(hashesBy(old, [current]), [before, after], 'in the first step of a rotation');
  assert.notEqual(before, after);
  assert.match(before, /^[\da-f]{64}$/);
  assert.notEqual(createAccountPseudonymizer({ secret: old })('account-2')[0], before);
});
