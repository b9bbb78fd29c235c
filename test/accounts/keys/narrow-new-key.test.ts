import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyWithinAllLimits } from '../../../src/accounts/keys/keys.ts';
import { listSpendCapsOfAccount } from '../../../src/accounts/limits/spend-caps.ts';
import type { NewKey } from '../../../src/accounts/keys/key-record.ts';
import { type Answer } from '../../support/service/http-client.ts';
import { useKeys } from './keys-stage.ts';

const { service, post, made, owner } = useKeys();

const models = ['videogen-2.0-fast'];
const other = 'videogen-2.0';
const hourMs = 3_600_000;

function assertInvalid({ status, bytes }: Answer, expected: RegExp): void {
  assert.equal(status, 422);
  assert.match(bytes.toString(), expected);
}

/** A key that may create keys, within these limits. */
async function limited(more: Partial<NewKey>) {
  const { accountId, key: full } = await owner();
  const newKey: NewKey = { accountId, name: 'limited', scopes: ['keys:write', 'tasks:write', 'tasks:read'], ...more };
  const created = await createKeyWithinAllLimits(service().database.db, newKey);
  assert.ok(created.kind === 'made');
  return { accountId, full, key: created.key, keyId: created.apiKey.keyId };
}

test('a key creates keys for its models alone, by default for all of them', async () => {
  const { key } = await limited({ models });
  assert.deepEqual((await made(post(key, '', { name: 'x' }))).models, models);
  assert.deepEqual((await made(post(key, '', { name: 'x', models }))).models, models);
  assertInvalid(await post(key, '', { name: 'x', models: [...models, other] }), /models\[1\].*of the calling key/);
});

test('a key creates keys that expire no later than it does, by default with it', async () => {
  const expiresAt = Date.now() + hourMs;
  const { key } = await limited({ expiresAt });
  assert.equal((await made(post(key, '', { name: 'x' }))).expireTime, expiresAt);
  for (const expireTime of [expiresAt - 1, expiresAt])
    assert.equal((await made(post(key, '', { name: 'x', expireTime }))).expireTime, expireTime);
  assertInvalid(await post(key, '', { name: 'x', expireTime: expiresAt + 1 }), /expireTime.*calling key/);
});

test('keys that a key with caps creates share its caps', async () => {
  const { accountId, key } = await limited({ caps: { total: 165 } });
  await made(post(key, '', { name: 'first' }));
  const next = await made(post(key, '', { name: 'second' }));
  assertInvalid(await post(key, '', { name: 'x', caps: { total: 10_000 } }), /caps.*calling key/);
  await service().database.db.run({ name: 'test-rich', text: 'update accounts set balance = 1000 where id = $1' }, [
    accountId,
  ]);
  const request = { model: models[0], input: { prompt: 'x' } };
  assert.equal((await service().create(next.key, request)).status, 200);
  const { status, bytes } = await service().create(key, request);
  assert.equal(status, 402);
  assert.match(bytes.toString(), /165 spent/);
});

test('a key with caps lowers caps, and neither raises nor removes any: of its own, of another key, of the account', async () => {
  const { accountId, full, key, keyId } = await limited({ caps: { day: 100, total: 165 } });
  const foreign = await made(post(full, '', { name: 'other', caps: { total: 400 } }));
  const successor = await made(post(key, '/rotate', { keyId }));
  const set = (by: string, body: object) => {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
    return service().send('POST', '/api/v1/caps', { headers, body: JSON.stringify(body) });
  };
  assert.equal((await set(full, { total: 900 })).status, 200);
  for (const by of [key, successor.key]) {
    for (const [subject, total] of [
      [{ keyId }, 165],
      [{ keyId: successor.keyId }, 165],
      [{ keyId: foreign.keyId }, 400],
      [{}, 900],
    ] as const) {
      const refusal = new RegExp(`total: must be at most ${total}, because the calling key has caps`);
      assertInvalid(await set(by, { ...subject, total: total + 1 }), refusal);
      assertInvalid(await set(by, { ...subject, total: null, month: 5 }), refusal);
    }
  }
  const caps = async () =>
    (await listSpendCapsOfAccount(service().database.db, accountId)).map(({ period, credits }) => [period, credits]);
  const before = [
    ['total', 900],
    ['day', 100],
    ['total', 165],
    ['total', 400],
  ];
  assert.deepEqual(
    (await caps()).map(String).toSorted(),
    before.map(String).toSorted(),
    'a refused change sets nothing',
  );
  assert.equal((await set(key, { keyId, day: 99, month: 150, total: 165 })).status, 200);
  assert.equal((await set(key, { total: 800 })).status, 200);
  assertInvalid(await set(key, { keyId, month: 151 }), /month: must be at most 150/);
  assert.equal((await set(full, { keyId, day: null, month: null, total: null })).status, 200);
  assert.equal((await set(key, { total: null })).status, 200, 'a key without caps may remove them');
});

test('a key rotates no key that may do more, and its successor expires with it', async () => {
  const expiresAt = Date.now() + hourMs;
  const limits = { models: { models }, caps: { caps: { total: 165 } } };
  for (const [name, limit] of Object.entries(limits)) {
    const { full, key } = await limited(limit);
    const wider = await made(post(full, '', { name: 'wider', scopes: ['tasks:write'] }));
    assertInvalid(await post(key, '/rotate', { keyId: wider.keyId }), new RegExp(`calling key: .*${name}`));
  }
  const { full, key, keyId } = await limited({ expiresAt, models });
  const old = await made(post(full, '', { name: 'old', scopes: ['tasks:read'], models }));
  assert.equal((await made(post(key, '/rotate', { keyId: old.keyId }))).expireTime, expiresAt);
  assert.equal((await made(post(key, '/rotate', { keyId }))).expireTime, expiresAt, 'also its own');
});

test('a scope that the calling key lacks is refused where keys are made, too', async () => {
  const { accountId, keyId } = await limited({});
  const newKey: NewKey = { accountId, name: 'x', scopes: ['content:delete'] };
  const refused = await createKeyWithinAllLimits(service().database.db, newKey, keyId);
  assert.deepEqual(refused, {
    kind: 'beyond_caller',
    errors: [{ path: 'scopes', message: 'the calling key lacks the scope content:delete' }],
  });
});
