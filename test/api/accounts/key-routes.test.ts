import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Scope } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator } from '../../support/service/operator-key.ts';
import { newMember } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const all: readonly Scope[] = ['tasks:write', 'tasks:read', 'credits:read', 'keys:write', 'content:delete'];
const post = async (key: string, path: string, body: object) => {
  const { json } = await askWith(service, key)('POST', `/api/v1/keys${path}`, { body });
  return json;
};

type Key = Readonly<Record<string, unknown>> & { readonly keyId: string; readonly key: string };
const made = async (key: string, path: string, body: object) => {
  const { code, data, msg } = await post(key, path, body);
  assert.equal(code, 200, msg);
  return data as Key; // the documented shape
};

test('200 a key of a key gets the ordinary scopes that its creator has, or those that are named', async () => {
  const { key } = await service.newAccount(0, ['content:delete', 'tasks:read', 'keys:write', 'credits:read']);
  const { keyId, hint, createTime, key: secret, ...others } = await made(key, '', { name: 'plain' });
  assert.match(secret, /^vg_/);
  assert.equal(String(hint).slice(0, 3), 'vg_');
  assert.equal(typeof createTime, 'number');
  const none = { models: null, mergeRepeats: false, expireTime: null, lastUseTime: null, revokeTime: null };
  assert.deepEqual(others, { name: 'plain', scopes: ['tasks:read', 'credits:read'], dialect: 'native', ...none });
  const named = await made(key, '', { name: 'named', scopes: ['content:delete', 'content:delete'] });
  assert.deepEqual(named['scopes'], ['content:delete']);
  const refused = await post(key, '', { name: 'more', scopes: ['tasks:read', 'tasks:write'] });
  assert.deepEqual([refused.code, refused.error], [403, 'scope_missing']);
  assert.match(refused.msg, /tasks:write/);
  const { key: granting } = await service.newAccount(0, ['keys:write']);
  const nothing = await post(granting, '', { name: 'nothing' });
  assert.deepEqual([nothing.code, (nothing.data['errors'] as { path: string }[])[0]?.path], [422, 'scopes']);
  assert.notEqual(keyId, named.keyId);
});

test('200 a key is created with every rule that is given, and its successor has them, too', async () => {
  const { key } = await service.newAccount(0, all);
  const expireTime = Date.now() + 3_600_000;
  const rules = { dialect: 'kie', models: ['videogen-2.0-fast'], mergeRepeats: true, expireTime } as const;
  const models = [...rules.models, ...rules.models];
  const old = await made(key, '', { name: 'old', scopes: ['tasks:read', 'tasks:write'], ...rules, models });
  const { keyId, key: secret, hint, createTime, ...shown } = old;
  const unused = { lastUseTime: null, revokeTime: null };
  assert.deepEqual(shown, { name: 'old', scopes: ['tasks:read', 'tasks:write'], ...rules, ...unused });
  const next = await made(key, '/rotate', { keyId, overlapSeconds: 60 });
  assert.ok(next.keyId !== keyId && next.key !== secret && next['hint'] !== hint);
  assert.ok(Number(next['createTime']) >= Number(createTime));
  const { oldKeyId, oldExpireTime } = next;
  assert.equal(oldKeyId, keyId);
  const { keys } = (await askWith(service, key)('GET', '/api/v1/keys')).json.data;
  const listed = (keys as readonly Key[]).find((one) => one.keyId === keyId); // the documented shape
  assert.deepEqual([listed?.['expireTime'], listed?.['name']], [oldExpireTime, 'old']);
  assert.ok(Number(oldExpireTime) >= Number(createTime) + 60_000 && Number(oldExpireTime) < expireTime);
  const { name, scopes, dialect, models: of, mergeRepeats, lastUseTime, revokeTime } = next;
  assert.deepEqual(
    { name, scopes, dialect, models: of, mergeRepeats, lastUseTime, revokeTime },
    {
      name: 'old',
      scopes: ['tasks:read', 'tasks:write'],
      dialect: 'kie',
      models: ['videogen-2.0-fast'],
      mergeRepeats: true,
      ...unused,
    },
  );
});

test('a key of another account, an unknown key and a revoked key are not rotated, and no successor exceeds the calling key', async () => {
  const [own, other] = [await service.newAccount(0, all), await service.newAccount(0, all)];
  const target = await made(own.key, '', { name: 'target' });
  for (const keyId of ['x', randomUUID()])
    for (const path of ['/rotate', '/revoke'])
      assert.equal((await post(own.key, path, { keyId })).error, 'key_not_found', `${path} ${keyId}`);
  for (const path of ['/rotate', '/revoke'])
    assert.equal((await post(other.key, path, { keyId: target.keyId })).error, 'key_not_found', path);
  const narrow = await made(own.key, '', { name: 'narrow', scopes: ['keys:write', 'tasks:read'] });
  const lacks = await post(narrow.key, '/rotate', { keyId: target.keyId });
  assert.deepEqual([lacks.code, lacks.error], [403, 'scope_missing']);
  assert.match(lacks.msg, /tasks:write|credits:read/);
  const limited = await made(own.key, '', { name: 'limited', scopes: all, models: ['videogen-2.0-fast'] });
  const beyond = await post(limited.key, '/rotate', { keyId: target.keyId });
  const errors = beyond.data['errors'] as readonly { readonly path: string; readonly message: string }[];
  assert.deepEqual([beyond.code, errors.map(({ path }) => path)], [422, ['keyId']]);
  assert.match(errors[0]?.message ?? '', /calling key: models /);
  const wider = await post(limited.key, '', { name: 'wider', models: ['videogen-2.0'] });
  assert.equal(wider.code, 422);
  assert.match(JSON.stringify(wider.data), /"path":"models/);
  const revoked = await made(own.key, '/revoke', { keyId: target.keyId });
  assert.deepEqual(Object.keys(revoked), ['keyId', 'revokeTime']);
  assert.equal(revoked.keyId, target.keyId);
  assert.ok(Number(revoked['revokeTime']) > 0);
  assert.deepEqual(await made(own.key, '/revoke', { keyId: target.keyId }), revoked, 'idempotent');
  const late = await post(own.key, '/rotate', { keyId: target.keyId });
  assert.deepEqual([late.code, late.error], [409, 'key_not_active']);
});

test('a key rotates itself to a successor that its own rules bound, and a person is bound by no key', async () => {
  const { accountId, person } = await newMember(service);
  const { ask } = await createTestOperator(service);
  const created = await ask('POST', '/api/admin/v1/keys', { body: { accountId, name: 'own', scopes: all } });
  const { key } = created.json.data as Key; // the documented shape
  const caller = await made(key, '', { name: 'caller', scopes: all, expireTime: Date.now() + 3_600_000 });
  const endless = await made(key, '', { name: 'endless', scopes: ['tasks:read'] });
  const bounded = await made(caller.key, '/rotate', { keyId: endless.keyId });
  assert.equal(bounded['expireTime'], caller['expireTime'], 'no later than the calling key');
  const unbounded = await person.ask('POST', '/api/v1/keys/rotate', {
    accountId,
    body: { keyId: (await made(key, '', { name: 'other', scopes: ['tasks:read'] })).keyId },
  });
  assert.deepEqual([unbounded.status, unbounded.json.data['expireTime']], [200, null]);
});

test('409 an account at its limit of keys neither gets one nor rotates one, and learns the limit', async () => {
  const { accountId, key } = await service.newAccount(0, all);
  const target = await made(key, '', { name: 'target' });
  const text = `
insert into api_keys (id, account_id, name, hash, hint, scopes)
select gen_random_uuid(), $1, 'many', sha256(gen_random_uuid()::text::bytea), '', '{}' from generate_series(1, 98)`;
  await service.database.db.run({ name: 'test-98-keys', text }, [accountId]);
  for (const [path, body] of [
    ['', { name: 'one more' }],
    ['/rotate', { keyId: target.keyId }],
  ] as const) {
    const { code, error, data } = await post(key, path, body);
    assert.deepEqual({ code, error, data }, { code: 409, error: 'too_many_keys', data: { limit: 100 } });
  }
});

test('200 an operator creates, lists and revokes keys of the account that is named', async () => {
  const { ask } = await createTestOperator(service);
  const [one, two] = [await service.newAccount(0, all), await service.newAccount(0, all)];
  const created = await ask('POST', '/api/admin/v1/keys', { body: { accountId: one.accountId, name: 'of one' } });
  const { key, accountId, ...shown } = created.json.data as Key; // the documented shape
  assert.equal(accountId, one.accountId);
  assert.deepEqual(shown['scopes'], ['tasks:write', 'tasks:read', 'credits:read']);
  assert.equal((await service.recordInfo(key, randomUUID())).status, 404);
  const listedOf = async (of: string) => {
    const { json } = await ask('GET', '/api/admin/v1/keys', { query: { accountId: of } });
    return json.data['keys'] as { keyId: string; uses: object }[]; // the documented shape
  };
  assert.deepEqual((await listedOf(one.accountId))[0]?.keyId, shown.keyId);
  assert.deepEqual((await listedOf(one.accountId))[0]?.uses, { tasks: 0, credits: 0 });
  assert.ok((await listedOf(two.accountId)).every(({ keyId }) => keyId !== shown.keyId));
  const query = { accountId: randomUUID() };
  assert.equal((await ask('GET', '/api/admin/v1/keys', { query })).json.error, 'account_not_found');
  const revoke = (keyId: string) => ask('POST', '/api/admin/v1/keys/revoke', { body: { keyId } });
  const revoked = (await revoke(shown.keyId)).json.data;
  assert.deepEqual([revoked['keyId'], Number(revoked['revokeTime']) > 0], [shown.keyId, true]);
  assert.equal((await revoke(randomUUID())).json.error, 'key_not_found');
  assert.equal((await service.recordInfo(key, randomUUID())).status, 401);
});

test('a person creates a key with more than the ordinary scopes only after they have authenticated again', async () => {
  const { accountId: owned, person } = await newMember(service);
  const age = `update sessions set authenticated_at = now() - interval '1 day' where id = $1`;
  await service.database.db.run({ name: 'test-age-session', text: age }, [person.sessionId]);
  const create = (scopes?: readonly Scope[]) =>
    person.ask('POST', '/api/v1/keys', { accountId: owned, body: { name: 'a', scopes } });
  assert.equal((await create()).status, 200);
  const much = await create(['tasks:read', 'keys:write']);
  assert.deepEqual([much.status, much.json.error], [403, 'reauthentication_required']);
});
