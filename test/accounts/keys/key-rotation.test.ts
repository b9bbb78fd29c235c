import assert from 'node:assert/strict';
import { test } from 'node:test';
import { revokeApiKey } from '../../../src/accounts/keys/keys.ts';
import { maxUnixMs } from '../../../src/api/core/request-fields.ts';
import { assertSince } from '../../support/assert-since.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { useKeys } from './keys-stage.ts';

const { service, post, made, listed, readStatus, keyOf, owner } = useKeys();

test('200 a rotated key and its successor both work during the overlap, and only the new one after it', async () => {
  const { key } = await owner();
  const old = await made(post(key, '', { name: 'rotating', scopes: ['tasks:read'] }));
  const sinceMs = Date.now();
  const next = await made(post(key, '/rotate', { keyId: old.keyId, overlapSeconds: 3600 }));
  assertSince(sinceMs, next.oldExpireTime - 3_600_000);
  assert.deepEqual([next.name, next.scopes, next.expireTime], ['rotating', ['tasks:read'], null]);
  assert.deepEqual([await readStatus(old.key), await readStatus(next.key)], [404, 404]);
  const last = await made(post(key, '/rotate', { keyId: next.keyId, overlapSeconds: 0 }));
  assert.deepEqual([await readStatus(next.key), await readStatus(last.key)], [401, 404]);
});

test('200 a successor is valid as long as its predecessor, whose own expiry is never extended', async () => {
  const { key } = await owner();
  const sinceMs = Date.now();
  const expireTime = sinceMs + 3_600_000;
  const old = await made(post(key, '', { name: 'hourly', expireTime }));
  const next = await made(post(key, '/rotate', { keyId: old.keyId }));
  assert.equal(next.oldExpireTime, expireTime, 'the day of overlap does not outlast the hour');
  assertSince(sinceMs, Number(next.expireTime) - 3_600_000);
});

test('200 the successor of a key with the latest possible expiry expires, too, a little later', async () => {
  const { key } = await owner();
  const sinceMs = Date.now();
  const old = await made(post(key, '', { name: 'long', expireTime: maxUnixMs }));
  const { expireTime } = await made(post(key, '/rotate', { keyId: old.keyId }));
  // Later by the age that the old one had.
  assertSince(sinceMs, Number(expireTime) - maxUnixMs + sinceMs);
});

test('409 a key that is revoked or has expired cannot be rotated', async () => {
  const { accountId, key } = await owner();
  const revoked = await keyOf(accountId, ['tasks:read']);
  await revokeApiKey(service().database.db, revoked.keyId);
  const expired = await keyOf(accountId, ['tasks:read'], 1_000);
  for (const { keyId } of [revoked, expired]) {
    assertRefused(await post(key, '/rotate', { keyId }), 409, /revoked or has expired/);
  }
});

for (const overlapSeconds of [-1, 1.5, 2_592_001, '60', null]) {
  test(`422 an overlap of ${overlapSeconds}`, async () => {
    const { key } = await owner();
    const [own] = await listed(key);
    assert.equal((await post(key, '/rotate', { keyId: own?.keyId, overlapSeconds })).status, 422);
    assert.equal((await listed(key)).length, 1);
  });
}
