import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createBadKeyLimiter, createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { createKeyUnchecked, revokeApiKey } from '../../../src/accounts/keys/keys.ts';
import { type Database, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

// createTask takes a caller from the cache; a key that was revoked or changed since must count nevertheless.

const price = 165;

let database: TestDatabase;
let service: HttpService;
let statements: string[] = [];
/** What the next statement of this name throws once it has run, and whatever happens meanwhile. */
let loss: { readonly name: string; readonly meanwhile: () => Promise<unknown> } | undefined;
let nowMs = 1_000;
const noted: string[] = [];

before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({
    database,
    db: observed(database.db),
    now: () => nowMs,
    keyTouches: { add: (keyId) => noted.push(keyId), drain: async () => {} },
    badKeys: createBadKeyLimiter(createRateLimiter({ quota: 2, windowMs: 3_600_000 })),
  });
});
beforeEach(() => {
  // Bad keys are counted by address, and a test must not suffer from those of another.
  statements = [];
  loss = undefined;
});
after(async () => {
  await service.close();
  await database.close();
});

function observed(db: Database): Database {
  return {
    ...db,
    run: async (statement, values) => {
      statements.push(statement.name);
      const answer = await db.run<Record<string, never>>(statement, values);
      if (loss?.name !== statement.name) return answer as never;
      const { meanwhile } = loss;
      loss = undefined;
      await meanwhile();
      throw new DatabaseUnavailableError(true, new Error('the connection broke'));
    },
  };
}

let address = 0;
/** As if from another address each time. */
function from() {
  return { 'x-forwarded-for': `203.0.113.${(address += 1)}` };
}

async function knownCaller(scopes: readonly ('tasks:write' | 'tasks:read')[] = ['tasks:write']) {
  const { accountId } = await service.newAccount(10 * price);
  const created = await createKeyUnchecked(database.db, { accountId, name: 'a', scopes });
  assert.ok(created);
  assert.equal((await service.create(created.key, plainRequest)).status, 200);
  statements = [];
  return { accountId, ...created };
}

function suspend(accountId: string, isSuspended: boolean) {
  const text = 'update accounts set suspended_at = case when $2 then now() end where id = $1';
  return database.db.run({ name: 'test-suspend', text }, [accountId, isSuspended]);
}

async function tasksPaidBy(accountId: string): Promise<number> {
  return 10 - ((await findAccount(database.db, accountId))?.balance ?? NaN) / price;
}

test('200 who was found good a moment ago costs one statement, and half a minute later is looked up again', async () => {
  const { key, keyId } = await knownCaller();
  assert.deepEqual(noted.slice(-1), [keyId]);
  await service.create(key, plainRequest);
  nowMs += 29_000;
  await service.create(key, plainRequest);
  assert.deepEqual(statements, ['accept-tasks', 'accept-tasks']);
  nowMs += 1_001;
  noted.splice(0);
  await service.create(key, plainRequest);
  assert.deepEqual(statements.slice(2), ['find-callers-with-tasks', 'accept-tasks']);
  assert.deepEqual(noted, [keyId], 'and its use is noted again');
});

for (const [name, end] of [
  ['revoked', (keyId: string) => revokeApiKey(database.db, keyId)],
  [
    'expired',
    (keyId: string) => {
      const text = 'update api_keys set expires_at = now() where id = $1';
      return database.db.run({ name: 'test-expire', text }, [keyId]);
    },
  ],
] as const) {
  for (const [what, body, headers] of [
    ['a create', plainRequest, {}],
    ['what would be a replay', plainRequest, { 'idempotency-key': 'before' }],
    ['what would be a conflict', { ...plainRequest, model: 'videogen-2.0' }, { 'idempotency-key': 'before' }],
    ['an invalid request', {}, {}],
    ['a body that is no JSON', '{', {}],
    ['a body of another type', plainRequest, { 'content-type': 'text/plain' }],
    ['what it cannot pay', { ...plainRequest, input: { prompt: 'x', duration: 15 } }, {}],
  ] as const) {
    test(`401 ${what} with a key that is ${name} since, charges nothing, and counts as a bad key`, async () => {
      const { accountId, keyId, key } = await knownCaller();
      await service.create(key, plainRequest, { 'idempotency-key': 'before' });
      const paid = await tasksPaidBy(accountId);
      await end(keyId);
      const ip = from();
      const refused = await service.create(key, body, { ...headers, ...ip });
      assertRefused(refused, 401, /^a valid API key is required/);
      assert.equal(refused.headers['www-authenticate'], 'Bearer');
      statements = [];
      assertRefused(await service.create(key, body, { ...headers, ...ip }), 401, /^a valid API key/);
      assert.deepEqual(statements, ['find-callers-with-tasks'], 'it is not taken from the cache any more');
      assertRefused(await service.create(key, body, { ...headers, ...ip }), 429, /too many invalid API keys/);
      assert.equal(await tasksPaidBy(accountId), paid);
    });
  }
}

test('401 of many creates at once none is accepted once the key is revoked', async () => {
  const { accountId, keyId, key } = await knownCaller();
  await revokeApiKey(database.db, keyId);
  const answers = await Promise.all(Array.from({ length: 8 }, () => service.create(key, plainRequest, from())));
  for (const answer of answers) assertRefused(answer, 401, /valid API key/);
  assert.equal(await tasksPaidBy(accountId), 1);
});

test('403 a suspended account hears that and nothing else, and may go on when it is not suspended any more', async () => {
  const { accountId, key } = await knownCaller();
  await suspend(accountId, true);
  for (const body of [plainRequest, {}, '{']) assertRefused(await service.create(key, body), 403, /suspended/);
  await suspend(accountId, false);
  assert.equal((await service.create(key, plainRequest)).status, 200);
  assert.equal(await tasksPaidBy(accountId), 2);
});

test('403 a suspended account does not hear an earlier answer again either, by whichever process it is asked', async () => {
  const { accountId, key } = await knownCaller();
  const repeat = { 'idempotency-key': 'before' };
  assert.equal((await service.create(key, plainRequest, repeat)).status, 200);
  await suspend(accountId, true);
  // Taken from the cache each time, and looked up when it is refused.
  for (const _ of [1, 2]) assertRefused(await service.create(key, plainRequest, repeat), 403, /suspended/);
  await suspend(accountId, false);
  const replayed = await service.create(key, plainRequest, repeat);
  assert.equal(replayed.headers['idempotency-replayed'], 'true');
});

test('403 a cached key without the scope is refused', async () => {
  const { accountId } = await service.newAccount(10 * price);
  const created = await createKeyUnchecked(database.db, { accountId, name: 'a', scopes: ['tasks:read'] });
  assert.ok(created);
  for (const body of [plainRequest, '{']) assertRefused(await service.create(created.key, body), 403, /tasks:write/);
});

test('422 a cached caller whose key is good is refused as any other, and cached again', async () => {
  const { key } = await knownCaller();
  assert.equal((await service.create(key, {})).status, 422);
  assert.deepEqual(statements, ['find-callers-with-tasks']);
  assert.equal((await service.create(key, plainRequest)).status, 200);
  assert.deepEqual(statements, ['find-callers-with-tasks', 'accept-tasks']);
});

test('200 a task that was accepted before its key was revoked is accepted, though its answer was lost meanwhile', async () => {
  const { accountId, keyId, key } = await knownCaller();
  loss = { name: 'accept-tasks', meanwhile: () => revokeApiKey(database.db, keyId) };
  const answer = await service.create(key, plainRequest);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['idempotency-replayed'], undefined);
  assert.equal(await tasksPaidBy(accountId), 2);
});

test('503 what is not known is said so, also to a cached caller who cannot be looked up now', async () => {
  const { key } = await knownCaller();
  const outage = new DatabaseUnavailableError(true, new Error('unreachable'));
  const broken = await startHttpService({ database, db: { ...database.db, run: (one, values) => run(one, values) } });
  let isUnavailable = false;
  const run: Database['run'] = (statement, values) =>
    isUnavailable ? Promise.reject(outage) : database.db.run(statement, values);
  try {
    assert.equal((await broken.create(key, plainRequest)).status, 200);
    isUnavailable = true;
    assertRefused(await broken.create(key, plainRequest, { 'idempotency-key': 'k' }), 503, /unknown whether/);
    assertRefused(await broken.create(key, {}), 503, /nothing was charged/);
  } finally {
    await broken.close();
  }
});
