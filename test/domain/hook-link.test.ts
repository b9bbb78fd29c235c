import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHookLinks } from '../../src/domain/hook-link.ts';
import { createLinkSigner } from '../../src/media/signed-link.ts';

const secret = 'a secret of the installation that nobody knows';
const publicUrl = 'https://videogen.example/api';
const links = createHookLinks({ secret, publicUrl });
const call = { taskId: '0193b5a0-0000-7000-8000-000000000001', ordinal: 2 };
const token = links.urlOf(call).slice(`${publicUrl}/hooks/`.length);

test('an address begins with the public one and leads to its call, in every process with the same secret', () => {
  assert.ok(links.urlOf(call).startsWith('https://videogen.example/api/hooks/'));
  assert.deepEqual(createHookLinks({ secret, publicUrl: 'http://another' }).callOf(token), call);
});

test('no character of a token can be changed, left out or added', () => {
  for (let at = 0; at < token.length; at += 1) {
    for (const letter of '0123456789abcdefABCDEF.-_ \n') {
      const changed = token.slice(0, at) + letter + token.slice(at + 1);
      assert.equal(links.callOf(changed) !== undefined, changed === token, changed);
    }
    assert.equal(links.callOf(token.slice(0, at) + token.slice(at + 1)), undefined);
  }
  for (const other of [
    '',
    `${token}=`,
    `${token}A`,
    ` ${token}`,
    `${token}\n`,
    `x${token}`,
    token.toUpperCase(),
    'x'.repeat(9_999),
  ])
    assert.equal(links.callOf(other), undefined, other);
});

test('a token is of one call, one secret and one purpose', () => {
  const [, , signature = ''] = token.split('.');
  for (const other of [`${call.taskId}.1`, `${call.taskId}.02`, `${call.taskId.replace(/1$/, '2')}.2`])
    assert.equal(links.callOf(`${other}.${signature}`), undefined, other);
  assert.equal(createHookLinks({ secret: `${secret}.`, publicUrl }).callOf(token), undefined);
  const media = new URL(createLinkSigner({ secret, publicUrl }).sign(`${call.taskId}.${call.ordinal}`));
  assert.equal(links.callOf(`${call.taskId}.${call.ordinal}.${media.searchParams.get('signature')}`), undefined);
});

test('after a rotation of the secret addresses that upstreams were given before lead to their calls', () => {
  assert.deepEqual(createHookLinks({ secret: 'the next', secretPrevious: [secret], publicUrl }).callOf(token), call);
});
