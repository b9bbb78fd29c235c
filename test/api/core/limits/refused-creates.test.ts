import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAccount } from '../../../../src/accounts/accounts.ts';
import { createRateLimiter } from '../../../../src/api/core/limits/rate-limits.ts';
import type { Database } from '../../../../src/platform/database/database.ts';
import { assertRefused } from '../../../support/service/http-client.ts';
import { plainRequest } from '../../../support/service/http-service.ts';
import { retryAfterMs, useDatabase } from './rates-stage.ts';

const { database, withService } = useDatabase();

test('429 refused creates have a limit of their own, per account; accepted and replayed creates do not count', async () => {
  let now = 0;
  const refusedCreates = createRateLimiter({ quota: 3, windowMs: 30_000 }, () => now);
  await withService({ refusedCreates, now: () => now }, async (service) => {
    const { accountId, key } = await service.newAccount(7 * 165);
    const other = await service.newAccount(1_000);
    const headers = { 'idempotency-key': 'k' };
    for (const _ of [1, 2, 3, 4, 5]) assert.equal((await service.create(key, plainRequest, headers)).status, 200);
    for (const _ of [1, 2, 3, 4]) assert.equal((await service.create(key, plainRequest)).status, 200);
    const dear = { ...plainRequest, input: { prompt: 'x', duration: 15 } };
    const statuses = [await service.create(key, dear), await service.create(key, {}), await service.create(key, '{')];
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [402, 422, 400],
    );
    const refused = await service.create(key, dear);
    assertRefused(refused, 429, /too many creates of this account were refused/);
    assert.ok(retryAfterMs(refused) >= 10_000 && retryAfterMs(refused) <= 25_000, 'room, and half a window');
    assert.equal(refused.headers['ratelimit-policy'], '"refused-creates";q=3;w=30');
    assert.equal((await service.create(key, '{')).status, 429);
    assert.equal((await service.create(other.key, plainRequest)).status, 200, 'another account goes on');
    now += 10_000;
    assert.equal((await service.create(key, plainRequest)).status, 200);
    assert.equal((await service.create(key, dear)).status, 402);
    assert.equal((await service.create(key, dear)).status, 429);
    assert.equal((await findAccount(database().db, accountId))?.balance, 165);
  });
});

test('429 an account without credits cannot send unlimited creates, and delays no paying account', async () => {
  const refusedCreates = createRateLimiter({ quota: 10, windowMs: 3_600_000 });
  await withService({ refusedCreates }, async (service) => {
    const [poor, rich] = [await service.newAccount(0), await service.newAccount(100_000)];
    const statuses: number[] = [];
    for (let sent = 0; sent < 50; sent += 1) statuses.push((await service.create(poor.key, plainRequest)).status);
    assert.equal(statuses.filter((status) => status === 402).length, 10);
    assert.equal(statuses.filter((status) => status === 429).length, 40);
    assert.equal((await service.create(rich.key, plainRequest)).status, 200);
  });
});

test('429 the limit of refused creates is exact for creates at once, and a held create leaves its room to others', async () => {
  const refusedCreates = createRateLimiter({ quota: 4, windowMs: 3_600_000 });
  await withService({ refusedCreates }, async (service) => {
    const [poor, rich] = [await service.newAccount(0), await service.newAccount(100_000)];
    const refused = await Promise.all(Array.from({ length: 40 }, () => service.create(poor.key, plainRequest)));
    assert.equal(refused.filter(({ status }) => status === 402).length, 4);
    let ended = 0;
    const held = Array.from({ length: 4 }, () =>
      service.create(rich.key, plainRequest, { prefer: 'wait=60' }).finally(() => (ended += 1)),
    );
    const others = Array.from({ length: 20 }, () => service.create(rich.key, plainRequest));
    for (const { status } of await Promise.all(others)) assert.equal(status, 200);
    assert.equal(ended, 0);
    service.deps.taskWaiters.close();
    for (const { status } of await Promise.all(held)) assert.equal(status, 200);
  });
});

test('403 of a suspended account count as refused, and 429 of the rate of creates does not', async () => {
  const refusedCreates = createRateLimiter({ quota: 2, windowMs: 3_600_000 });
  await withService({ refusedCreates, createRate: { quota: 1, windowMs: 3_600_000 } }, async (service) => {
    const { accountId, key } = await service.newAccount(1_000);
    assert.equal((await service.create(key, plainRequest)).status, 200);
    for (const _ of [1, 2, 3, 4]) {
      assertRefused(await service.create(key, plainRequest), 429, /too many requests/);
    }
    const text = 'update accounts set suspended_at = now() where id = $1';
    await database().db.run({ name: 'test-suspend-refused', text }, [accountId]);
    const statuses = [];
    for (const _ of [1, 2, 3]) statuses.push((await service.create(key, plainRequest)).status);
    assert.deepEqual(statuses, [403, 403, 429]);
  });
});

test('403 of a key without the scope, and of an account suspended all along, count as refused; 429 needs no database', async () => {
  const refusedCreates = createRateLimiter({ quota: 2, windowMs: 3_600_000 });
  let statements = 0;
  const run: Database['run'] = (statement, values) => {
    statements += 1;
    return database().db.run(statement, values);
  };
  await withService({ refusedCreates, db: { ...database().db, run } }, async (service) => {
    const reader = await service.newAccount(1_000, ['tasks:read']);
    const suspended = await service.newAccount(1_000);
    const text = 'update accounts set suspended_at = now() where id = $1';
    await database().db.run({ name: 'test-suspend-refused', text }, [suspended.accountId]);
    for (const [{ key }, why] of [
      [reader, /lacks the scope tasks:write/],
      [suspended, /suspended/],
    ] as const) {
      for (const _ of [1, 2]) assertRefused(await service.create(key, plainRequest), 403, why);
      const earlier = statements;
      assertRefused(await service.create(key, plainRequest), 429, /too many creates of this account were refused/);
      assert.equal(statements, earlier);
    }
  });
});

test('200 an account can create immediately after its suspension ends, despite a recent refusal', async () => {
  await withService({}, async (service) => {
    const { accountId, key } = await service.newAccount(1_000);
    const suspend = (value: string) =>
      database().db.run(
        { name: `test-suspend-${value}`, text: `update accounts set suspended_at = ${value} where id = $1` },
        [accountId],
      );
    await suspend('now()');
    for (const body of [plainRequest, {}]) assertRefused(await service.create(key, body), 403, /suspended/);
    await suspend('null');
    assert.equal((await service.create(key, plainRequest)).status, 200);
  });
});
