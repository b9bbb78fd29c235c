import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import {
  closeBreaker,
  endCooldown,
  holdPoolForOperator,
  listPools,
  listProviderSwitches,
  setProviderSwitchAs,
  startCooldown,
} from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { ago, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'pools', credits: 0 });
});
after(() => database.close());

const minuteMs = 60_000;

type Pool = readonly [failures: number, reason: string | null, coolingMs: number | null];

async function addPools(db: StatementRunner, pools: Readonly<Record<string, Pool>>): Promise<void> {
  for (const [pool, [failures, reason, coolingMs]] of Object.entries(pools)) {
    const cooling = { cooling_reason: reason, cooling_until: coolingMs === null ? null : ago(-coolingMs) };
    await insertRow(db, 'provider_pools', { pool, provider: pool.split('/')[0], failures, ...cooling });
  }
}

async function poolsOf(db: StatementRunner): Promise<Readonly<Record<string, Pool>>> {
  const text = `
select pool, failures, cooling_reason as reason, (extract(epoch from cooling_until - now()) * 1000)::float8 as ms
from provider_pools order by pool`;
  const rows = await db.run<{ pool: string; failures: number; reason: string | null; ms: number | null }>({
    name: 'test-pools',
    text,
  });
  return Object.fromEntries(rows.map(({ pool, failures, reason, ms }) => [pool, [failures, reason, ms]]));
}

test('a failure starts a cooldown of its pool, twice as long as the one before, unless one is running', () =>
  rolledBack(database.db, async (db) => {
    const others: Readonly<Record<string, Pool>> = { 'a/other': [1, 'busy', -5], 'b/m': [0, null, null] };
    await addPools(db, { 'a/cooling': [2, 'busy', 1], 'a/m': [0, null, null], 'a/over': [3, 'busy', 0], ...others });
    const failure = { provider: 'a', reason: 'unknown', baseMs: minuteMs, isOfProvider: false } as const;
    const fail = (pool: string, maxMs = 100 * minuteMs) => startCooldown(db, { ...failure, pool, maxMs });
    for (const pool of ['a/m', 'a/cooling', 'a/over', 'a/m']) await fail(pool);
    assert.deepEqual(await poolsOf(db), {
      'a/cooling': [2, 'busy', 1],
      'a/m': [1, 'unknown', minuteMs],
      'a/over': [4, 'unknown', 8 * minuteMs],
      ...others,
    });
    await addPools(db, {
      'c/15': [15, 'busy', 0],
      'c/16': [16, 'busy', 0],
      'c/17': [17, 'busy', 0],
      'c/2': [2, null, null],
    });
    for (const pool of ['c/15', 'c/16', 'c/17']) await fail(pool, 1e12);
    await fail('c/2', 3 * minuteMs);
    const longest = 2 ** 16 * minuteMs;
    assert.deepEqual(
      Object.entries(await poolsOf(db)).filter(([pool]) => pool.startsWith('c/')),
      [
        ['c/15', [16, 'unknown', longest / 2]],
        ['c/16', [17, 'unknown', longest]],
        ['c/17', [18, 'unknown', longest]],
        ['c/2', [3, 'unknown', 3 * minuteMs]],
      ],
    );
  }));

test('a failure that all models of a provider share cools down its pools, and no other ones', () =>
  rolledBack(database.db, async (db) => {
    await addPools(db, {
      'a/1': [0, null, null],
      'a/2': [1, 'busy', -1],
      'a/3': [1, 'busy', 9],
      'b/1': [0, null, null],
    });
    const failure = { pool: 'a/1', provider: 'a', reason: 'operator', baseMs: minuteMs, maxMs: 1e9 } as const;
    await startCooldown(db, { ...failure, isOfProvider: true });
    assert.deepEqual(await poolsOf(db), {
      'a/1': [1, 'operator', minuteMs],
      'a/2': [2, 'operator', 2 * minuteMs],
      'a/3': [1, 'busy', 9],
      'b/1': [0, null, null],
    });
  }));

test('a cooldown until an operator acts makes its pool, opens its breaker once, and shortens no other cooldown', () =>
  rolledBack(database.db, async (db) => {
    const other: Readonly<Record<string, Pool>> = { 'b/1': [0, null, null] };
    await addPools(db, { 'a/0': [0, null, null], 'a/3': [3, 'busy', 10 * minuteMs], 'a/4': [4, 'busy', 1], ...other });
    for (const pool of ['a/0', 'a/3', 'a/4', 'a/new']) await holdPoolForOperator(db, pool, 'a', minuteMs);
    const held: Readonly<Record<string, Pool>> = {
      'a/0': [1, 'operator', minuteMs],
      'a/3': [3, 'operator', 10 * minuteMs],
      'a/4': [4, 'operator', minuteMs],
      'a/new': [1, 'operator', minuteMs],
    };
    assert.deepEqual(await poolsOf(db), { ...held, ...other });
    const made = (await listPools(db)).find(({ pool }) => pool === 'a/new');
    assert.equal(made?.provider, 'a');
  }));

test('a breaker closes when it was open, and a cooldown ends for its own reasons, in one pool', () =>
  rolledBack(database.db, async (db) => {
    await addPools(db, {
      'a/1': [2, 'busy', 5],
      'a/2': [2, 'busy', 5],
      'a/3': [0, 'busy', 5],
      'a/4': [2, 'operator', 5],
    });
    const closed: Pool = [0, null, null];
    for (const pool of ['a/1', 'a/3']) await closeBreaker(db, pool);
    await endCooldown(db, 'a/2', ['unreachable', 'operator']);
    assert.deepEqual(await poolsOf(db), {
      'a/1': closed,
      'a/2': [2, 'busy', 5],
      'a/3': [0, 'busy', 5],
      'a/4': [2, 'operator', 5],
    });
    await endCooldown(db, 'a/4', ['unreachable', 'operator']);
    assert.deepEqual((await poolsOf(db))['a/4'], closed);
    assert.deepEqual((await poolsOf(db))['a/2'], [2, 'busy', 5]);
  }));

test('a switch is stored and recorded when it changes something, and enabling ends the cooldowns of its provider', () =>
  rolledBack(database.db, async (db) => {
    await addPools(db, { 'a/1': [2, 'busy', 5], 'a/2': [0, null, 5], 'b/1': [2, 'busy', 5] });
    const set = (state: 'enabled' | 'draining' | 'off', reason: string) =>
      setProviderSwitchAs(db, shell, { provider: 'a', state, reason });
    await set('draining', 'it moves');
    await set('draining', 'again');
    assert.deepEqual((await poolsOf(db))['a/1'], [2, 'busy', 5]);
    await set('off', 'it is down');
    await set('enabled', 'it works');
    assert.deepEqual(await poolsOf(db), { 'a/1': [0, null, null], 'a/2': [0, null, 5], 'b/1': [2, 'busy', 5] });
    await set('enabled', 'nothing changes');
    await addPools(db, { 'a/3': [1, 'busy', 5] });
    await set('enabled', 'a cooldown ends');
    await setProviderSwitchAs(db, shell, { provider: 'b', state: 'off', reason: 'sold' });
    const [first, second, ...more] = await listProviderSwitches(db);
    assert.deepEqual(more, []);
    const { changedAt = 0, ...a } = first ?? {};
    assert.deepEqual(a, { provider: 'a', state: 'enabled', reason: 'it works', who: shell.name });
    assert.equal(second?.changedAt, changedAt, 'the time of the transaction');
    assert.deepEqual([second.provider, second.state, second.reason], ['b', 'off', 'sold']);
    const done = await listOperatorActions(db, { limit: 100 });
    const change = (provider: string, state: string, earlier: string, reason: string) => ({
      action: 'providers.set',
      details: { provider, state, before: earlier, reason },
    });
    assert.deepEqual(done.map(({ action, details }) => ({ action, details })).toReversed(), [
      change('a', 'draining', 'enabled', 'it moves'),
      change('a', 'off', 'draining', 'it is down'),
      change('a', 'enabled', 'off', 'it works'),
      change('a', 'enabled', 'enabled', 'a cooldown ends'),
      change('b', 'off', 'enabled', 'sold'),
    ]);
  }));

test('the list of pools counts the jobs that take a slot and the tasks that wait, each in its pool', () =>
  rolledBack(database.db, async (db) => {
    await addPools(db, { 'a/1': [2, 'busy', 5], 'b/1': [0, null, -5], 'c/1': [0, null, null] });
    const [intended, made] = [{ intended_at: ago(60 * minuteMs) }, { job_id: 'made' }];
    for (const [pool, row] of [
      ['a/1', { reserved_at: ago(minuteMs - 1) }],
      ['a/1', { reserved_at: ago(minuteMs) }],
      ['a/1', intended],
      ['a/1', { ...intended, outcome: 'abandoned' }],
      ['a/1', { ...intended, ...made }],
      ['a/1', { ...intended, ...made, upstream_ended_at: ago(0) }],
      ['a/1', { ...intended, ...made, settled_at: ago(0) }],
      ['a/1', { ...intended, ...made, outcome: 'fail' }],
      ['b/1', intended],
    ] as const) {
      const job = { task_id: await insertTask(db, accountId), ordinal: 1, provider: pool[0], pool };
      await insertRow(db, 'provider_jobs', { ...job, ...row });
    }
    for (const [pool, queuedMs] of [
      ['a/1', 7],
      ['a/1', 9],
      ['b/1', 3],
    ] as const) {
      const wait = { pool, task_id: await insertTask(db, accountId), account_id: accountId, ticket: 1 };
      await insertRow(db, 'slot_waits', { ...wait, queued_at: ago(queuedMs), due_at: ago(0) });
    }
    const closed = { failures: 0, coolingReason: undefined };
    assert.deepEqual(await listPools(db), [
      {
        pool: 'a/1',
        provider: 'a',
        failures: 2,
        coolingReason: 'busy',
        coolingMs: 5,
        occupying: 4,
        unanswered: 2,
        waiting: 2,
        oldestWaitMs: 9,
      },
      {
        ...closed,
        pool: 'b/1',
        provider: 'b',
        coolingMs: 0,
        occupying: 1,
        unanswered: 1,
        waiting: 1,
        oldestWaitMs: 3,
      },
      {
        ...closed,
        pool: 'c/1',
        provider: 'c',
        coolingMs: 0,
        occupying: 0,
        unanswered: 0,
        waiting: 0,
        oldestWaitMs: undefined,
      },
    ]);
  }));
