import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ordinaryScopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import {
  createKeyAs,
  createKeyWithinAllLimits,
  listApiKeysAfter,
  maxActiveKeys,
  revokeKeyAs,
} from '../../../src/accounts/keys/keys.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { maxUnixMs } from '../../../src/api/core/request-fields.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';
import { assertSince } from '../../support/assert-since.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { plainRequest } from '../../support/service/http-service.ts';
import { shell } from '../../support/service/person.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useKeys } from './keys-stage.ts';

const { service, post, made, listed, readStatus, keyOf, owner } = useKeys();

const manyKeys = {
  name: 'test-many-keys',
  text: `
insert into api_keys (id, account_id, name, hash, hint, scopes)
select gen_random_uuid(), $1, 'many', sha256(gen_random_uuid()::text::bytea), '', '{}' from generate_series(1, $2::int)`,
};

function fillKeys(accountId: string, count: number) {
  return service().database.db.run(manyKeys, [accountId, count]);
}

test('200 a new key works immediately, with the scopes it was given and no others', async () => {
  const { key } = await owner();
  const reader = await made(post(key, '', { name: 'reader', scopes: ['tasks:read'] }));
  assert.match(reader.key, /^vg_[0-9A-Za-z]{36}$/);
  assert.deepEqual([reader.name, reader.scopes, reader.expireTime], ['reader', ['tasks:read'], null]);
  assert.equal(await readStatus(reader.key), 404);
  assertRefused(await service().create(reader.key, {}), 403, /tasks:write/);
});

test('a key has no scope by default that needs a recent proof from a person', () => {
  const guarded = endpoints.filter(({ needsRecentProof }) => needsRecentProof === true).map(({ scope }) => scope);
  assert.ok(guarded.includes('callbacks:secret') && guarded.includes('keys:write'));
  assert.deepEqual(
    ordinaryScopes.filter((scope) => guarded.includes(scope)),
    [],
  );
});

test('200 by default a key gets the ordinary scopes of the key that creates it: none for keys, secrets or deleting content', async () => {
  const { accountId, key } = await owner();
  assert.deepEqual((await made(post(key, '', { name: 'a' }))).scopes, ['tasks:write', 'tasks:read', 'credits:read']);
  const narrow = await keyOf(accountId, ['keys:write', 'tasks:read']);
  assert.deepEqual((await made(post(narrow.key, '', { name: 'b', scopes: null }))).scopes, ['tasks:read']);
});

test('200 a key uses the dialect it was created with, native by default, and every response shows it', async () => {
  const { key } = await owner();
  const theirs = await made(post(key, '', { name: 'theirs', dialect: 'kie', scopes: ['tasks:read', 'keys:write'] }));
  assert.equal(theirs.dialect, 'kie');
  for (const [maker, wish] of [
    [key, {}],
    [key, { dialect: null }],
    [theirs.key, {}],
    [theirs.key, { dialect: 'native' }],
  ] as const) {
    assert.equal((await made(post(maker, '', { name: 'x', scopes: ['tasks:read'], ...wish }))).dialect, 'native');
  }
  assert.equal((await made(post(key, '/rotate', { keyId: theirs.keyId }))).dialect, 'kie');
  const shown = (await listed(key)).filter(({ name }) => name === 'theirs').map(({ dialect }) => dialect);
  assert.deepEqual(shown, ['kie', 'kie']);
  assertRefused(await post(key, '', { name: 'x', dialect: 'veo' }), 422, /^dialect: must be one of native, kie$/, {
    errors: [{ path: 'dialect', message: 'must be one of native, kie' }],
  });
});

test('200 the list shows every key of the account, active ones first, and never a secret', async () => {
  const { accountId, key } = await owner();
  const other = await owner();
  const first = await made(post(key, '', { name: 'first' }));
  const second = await made(post(key, '', { name: 'second' }));
  await made(post(key, '/revoke', { keyId: second.keyId }));
  const keys = await listed(key);
  assert.deepEqual(
    keys.map(({ name }) => name),
    ['first', 'test', 'second'],
  );
  assert.deepEqual(
    keys.map(({ revokeTime }) => revokeTime === null),
    [true, true, false],
  );
  const text = JSON.stringify(keys);
  for (const secret of [key, first.key, second.key, other.key, accountId]) assert.ok(!text.includes(secret));
});

test('200 a scope or a model that is named twice is one', async () => {
  const { key } = await owner();
  const [scope, model] = ['tasks:read', 'videogen-2.0'];
  const twice = await made(post(key, '', { name: 'twice', scopes: [scope, scope], models: [model, model] }));
  assert.deepEqual([twice.scopes, twice.models], [[scope], [model]]);
});

test('200 a key stops working when it expires', async () => {
  const { accountId, key } = await owner();
  const expireTime = Date.now() + 60_000;
  const shortLived = await made(post(key, '', { name: 'x', expireTime }));
  assert.equal(shortLived.expireTime, expireTime);
  assert.equal(await readStatus(shortLived.key), 404);
  const text = `update api_keys set expires_at = now() where id = $1 and account_id = $2`;
  await service().database.db.run({ name: 'test-expire', text }, [shortLived.keyId, accountId]);
  assert.equal(await readStatus(shortLived.key), 401);
});

test('200 a revoked key is refused from the next request on; repeating it changes nothing', async () => {
  const { key } = await owner();
  const { keyId, key: leaked } = await made(post(key, '', { name: 'leaked' }));
  assert.equal(await readStatus(leaked), 404);
  const { revokeTime } = await made(post(key, '/revoke', { keyId }));
  assert.equal(await readStatus(leaked), 401);
  assert.equal((await made(post(key, '/revoke', { keyId }))).revokeTime, revokeTime);
});

test('200 a key may revoke itself, and a suspended account may still revoke', async () => {
  const { accountId, key } = await owner();
  const { keyId } = await made(post(key, '', { name: 'x' }));
  const text = 'update accounts set suspended_at = now() where id = $1';
  await service().database.db.run({ name: 'test-suspend', text }, [accountId]);
  await made(post(key, '/revoke', { keyId }));
  assertRefused(await post(key, '', { name: 'y' }), 403, /suspended/);
  assertRefused(await post(key, '/rotate', { keyId }), 403, /suspended/);
  const [own] = (await listed(key)).filter(({ name }) => name === 'test');
  await made(post(key, '/revoke', { keyId: own?.keyId }));
  assert.equal(await readStatus(key), 401);
});

test('200 the last use is recorded after the response, and at most once a minute', async () => {
  const { accountId, key } = await owner();
  const used = await keyOf(accountId, ['tasks:read']);
  const lastUse = async () => (await listed(key)).find(({ keyId }) => keyId === used.keyId)?.lastUseTime ?? undefined;
  assert.equal(await lastUse(), undefined);
  const sinceMs = Date.now();
  await readStatus(used.key);
  assertSince(sinceMs, await waitFor('the last use', lastUse));
  for (const shift of ['30 seconds', '61 seconds']) {
    const text = `update api_keys set last_used_at = now() - $2::interval where id = $1`;
    await service().database.db.run({ name: 'test-age-use', text }, [used.keyId, shift]);
    const aged = await lastUse();
    await readStatus(used.key);
    const isNoted = shift === '61 seconds';
    if (isNoted) await waitFor('a newer use', async () => ((await lastUse()) === aged ? undefined : true));
    else {
      // Uses are written some time after the response.
      await service().deps.keyTouches.drain();
      assert.equal(await lastUse(), aged);
    }
  }
});

test('403 a key can never grant a scope that it lacks, neither to a new key nor by rotating a stronger one', async () => {
  const { accountId, key } = await owner();
  const weak = await keyOf(accountId, ['keys:write', 'tasks:read']);
  assertRefused(await post(weak.key, '', { name: 'x', scopes: ['tasks:read', 'tasks:write'] }), 403, /tasks:write/);
  const [strong] = (await listed(key)).filter(({ name }) => name === 'test');
  assertRefused(await post(weak.key, '/rotate', { keyId: strong?.keyId }), 403, /lacks the scope tasks:write/);
  assert.equal((await listed(key)).length, 2);
  assert.equal(await readStatus(key), 404, 'the stronger key still works');
});

test('200 the list shows what each key was used for', async () => {
  const { accountId, key } = await owner();
  const other = await keyOf(accountId, ['tasks:write']);
  const { json } = await service().create(key, plainRequest);
  await service().create(other.key, plainRequest);
  await failAndRefund(service().database.db, String(json.data['taskId']), {
    failCode: 'timeout',
    failMsg: 'Too long.',
  });
  const uses = async () => (await listed(key)).map(({ name, uses: { tasks, credits } }) => [name, tasks, credits]);
  assert.deepEqual(await uses(), [
    ['given', 1, 165],
    ['test', 1, 0],
  ]);
  const age = (days: number) =>
    runAsSuperuser(
      service().database,
      `update tasks set created_at = now() - interval '${days} days' where key_id = '${other.keyId}'`,
    );
  await age(29);
  assert.deepEqual((await uses())[0], ['given', 1, 165]);
  await age(31);
  assert.deepEqual((await uses())[0], ['given', 0, 0]);
});

test('the keys of an account are listed for its export by their ids, page by page', async () => {
  const { accountId } = await owner();
  await owner();
  for (const _ of [1, 2]) await keyOf(accountId, ['tasks:read']);
  const list = async (cursor: string | undefined, limit: number) =>
    (await listApiKeysAfter(service().database.db, accountId, cursor, limit)).map(({ keyId }) => keyId);
  const ids = await list(undefined, 10);
  assert.deepEqual([ids.length, ids], [3, ids.toSorted()]);
  assert.deepEqual([await list(undefined, 2), await list(ids[1], 2)], [ids.slice(0, 2), ids.slice(2)]);
});

test('the audit log has all that an operator gave to a key, and of a revocation the name and hint, once', async () => {
  const { db } = service().database;
  const { accountId } = await owner();
  const actions = async () =>
    (await listOperatorActions(db, { accountId, limit: 9 })).map(({ action, keyId, details }) => [
      action,
      keyId,
      details,
    ]);
  const rules = { dialect: 'kie', models: ['videogen-2.0'], mergeRepeats: true, caps: { day: 7 } } as const;
  const ruled = { name: 'ruled', scopes: ['tasks:read'], ...rules, expiresAt: maxUnixMs } as const;
  const first = await createKeyAs(db, shell, { accountId, ...ruled });
  const plain = { name: 'plain', scopes: ['tasks:write'] } as const;
  const second = await createKeyAs(db, shell, { accountId, ...plain });
  assert.ok(first?.kind === 'made' && second?.kind === 'made');
  const [{ keyId, hint }, { keyId: plainId }] = [first.apiKey, second.apiKey];
  for (let times = 0; times < 2; times += 1) assert.ok(await revokeKeyAs(db, shell, keyId));
  const defaults = { dialect: 'native', models: null, mergeRepeats: false, caps: null, expiresAt: null };
  assert.deepEqual(await actions(), [
    ['keys.revoke', keyId, { name: 'ruled', hint }],
    ['keys.create', plainId, { ...plain, ...defaults }],
    ['keys.create', keyId, ruled],
  ]);
});

test('403 every key endpoint needs keys:write', async () => {
  const { key } = await service().newAccount(0, ['tasks:write', 'tasks:read', 'credits:read']);
  const headers = { authorization: `Bearer ${key}` };
  const answers = [
    service().send('GET', '/api/v1/keys', { headers }),
    ...['', '/revoke', '/rotate'].map((path) => post(key, path, { name: 'x', keyId: randomUUID() })),
  ];
  for (const answer of await Promise.all(answers)) assertRefused(answer, 403, /keys:write/);
});

test("404 another account's key, an unknown key and an invalid id get the same response", async () => {
  const [mine, other] = [await owner(), await owner()];
  const { keyId } = await keyOf(other.accountId, ['tasks:read']);
  for (const id of [keyId, randomUUID(), 'x', '']) {
    for (const path of ['/revoke', '/rotate']) {
      assertRefused(await post(mine.key, path, { keyId: id }), 404, /^key not found$/);
    }
  }
  assert.equal((await listed(other.key)).filter(({ revokeTime }) => revokeTime !== null).length, 0);
});

test('409 the last free key is created once: a concurrent request waits for the outcome, and is refused', async () => {
  const { accountId } = await owner();
  const { db } = service().database;
  const request = { accountId, name: 'x', scopes: ['tasks:read'] as const, expiresAt: undefined };
  await fillKeys(accountId, maxActiveKeys - 2);
  let rival: ReturnType<typeof createKeyWithinAllLimits> | undefined;
  await db.transaction(async (run) => {
    await run({ name: 'test-lock', text: 'select 1 from accounts where id = $1 for no key update' }, [accountId]);
    await run(manyKeys, [accountId, 1]);
    rival = createKeyWithinAllLimits(db, request);
    const text = `
select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%no key update%'`;
    await waitFor('the rival to wait', async () => (await db.run({ name: 'test-waiting', text }))[0]);
  });
  assert.deepEqual(await rival, { kind: 'too_many_keys' });
});

test('409 active keys are limited, also for concurrent requests; revoking one makes room for another', async () => {
  const { accountId, key } = await owner();
  await fillKeys(accountId, maxActiveKeys - 3);
  const answers = await Promise.all(Array.from({ length: 6 }, () => post(key, '', { name: 'x' })));
  assert.equal(answers.filter(({ status }) => status === 200).length, 2);
  for (const refused of answers.filter(({ status }) => status !== 200)) {
    assertRefused(refused, 409, /too many active keys/, { limit: maxActiveKeys });
  }
  const [some] = await listed(key);
  assert.equal((await post(key, '/rotate', { keyId: some?.keyId })).status, 409);
  await made(post(key, '/revoke', { keyId: some?.keyId }));
  await made(post(key, '', { name: 'now there is room' }));
});

for (const [body, path] of [
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: '  ' }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: 'a\ud83c' }, 'name'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ name: 'x', scopes: [] }, 'scopes'],
  [{ name: 'x', scopes: ['tasks:delete'] }, 'scopes[0]'],
  [{ name: 'x', scopes: 'tasks:read' }, 'scopes'],
  [{ name: 'x', models: ['videogen-2.0', 'none'] }, 'models[1]'],
  [{ name: 'x', expireTime: 1_000 }, 'expireTime'],
  [{ name: 'x', expireTime: '2030-01-01' }, 'expireTime'],
  [{ name: 'x', expireTime: 1e17 }, 'expireTime'],
  [{ name: 'x', expireTime: maxUnixMs + 1 }, 'expireTime'],
  [{ name: 'x', expires: 1 }, 'expires'],
] as const) {
  test(`422 a new key of ${JSON.stringify(body).slice(0, 60)}`, async () => {
    const { key } = await owner();
    const answer = await post(key, '', body);
    assert.equal(answer.status, 422, answer.bytes.toString());
    const { errors } = answer.json.data as { errors: { path: string }[] };
    assert.deepEqual(
      errors.map((error) => error.path),
      [path],
    );
    assert.equal((await listed(key)).length, 1);
  });
}

test('422 a key without an ordinary scope has no default scopes to grant', async () => {
  const { accountId } = await owner();
  const { key } = await keyOf(accountId, ['keys:write']);
  assertRefused(await post(key, '', { name: 'x' }), 422, /scopes: is required/, {
    errors: [
      { path: 'scopes', message: 'is required, because this key has none of tasks:write, tasks:read, credits:read' },
    ],
  });
  assert.equal((await post(key, '', { name: 'x', scopes: ['keys:write'] })).status, 200);
});
