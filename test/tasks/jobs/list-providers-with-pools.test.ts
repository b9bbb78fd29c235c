import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { listPools, type PoolState, type StoredSwitch } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { readProviderStatuses } from '../../../src/tasks/jobs/list-providers-with-pools.ts';
import { modelsAt } from '../../support/tasks/fake-providers.ts';
import { poolStage, provider } from './pool-stage.ts';

const catalogue = {
  ...builtInCatalogue(),
  providers: new Map([
    ['preview', { kind: 'preview', baseUrl: 'http://unused.example' }],
    ['box', { kind: 'own', baseUrl: 'http://gpu1:9000/v1' }],
  ]) as unknown as ReturnType<typeof builtInCatalogue>['providers'], // the fields that are read
  models: modelsAt(['box'], { limit: 3 }),
};

const idle = { failures: 0, coolingReason: undefined, coolingMs: undefined, occupying: 0, unanswered: 0, waiting: 0 };
const pools: readonly PoolState[] = [
  {
    pool: 'box/model',
    provider: 'box',
    failures: 4,
    coolingReason: 'busy',
    coolingMs: 5,
    occupying: 6,
    unanswered: 7,
    waiting: 8,
    oldestWaitMs: 9,
  },
  {
    ...idle,
    pool: 'left/old',
    provider: 'left',
    failures: 1,
    coolingReason: 'operator',
    coolingMs: 0,
    oldestWaitMs: undefined,
  },
  { ...idle, pool: 'box/old', provider: 'box', oldestWaitMs: undefined },
];
const switches: readonly StoredSwitch[] = [
  { provider: 'box', state: 'draining', reason: 'repairs', who: 'ada', changedAt: 10 },
  { provider: 'gone', state: 'off', reason: 'sold', who: 'eve', changedAt: 11 },
];
const unset = { state: 'enabled', reason: null, who: null, changeTime: null };
const idlePool = {
  limit: null,
  occupying: 0,
  unanswered: 0,
  waiting: 0,
  oldestWaitMs: null,
  consecutiveFailures: 0,
  coolingReason: null,
  coolingMs: null,
};

test('providers of the catalogue, of switches and of pools are listed with their switch and pools, by name', async () => {
  const rows: Readonly<Record<string, readonly object[]>> = {
    'list-provider-switches': switches,
    'list-provider-pools': pools,
  };
  // Reads both lists, and nothing else.
  const db = { run: async ({ name }: { name: string }) => rows[name] ?? assert.fail(name) } as unknown as Database;
  assert.deepEqual(await readProviderStatuses(db, catalogue), [
    {
      provider: 'box',
      kind: 'own',
      origin: 'http://gpu1:9000',
      state: 'draining',
      reason: 'repairs',
      who: 'ada',
      changeTime: 10,
      pools: [
        {
          pool: 'box/model',
          limit: 3,
          occupying: 6,
          unanswered: 7,
          waiting: 8,
          oldestWaitMs: 9,
          consecutiveFailures: 4,
          coolingReason: 'busy',
          coolingMs: 5,
        },
        { ...idlePool, pool: 'box/old' },
      ],
    },
    { provider: 'gone', kind: null, origin: null, state: 'off', reason: 'sold', who: 'eve', changeTime: 11, pools: [] },
    {
      provider: 'left',
      kind: null,
      origin: null,
      ...unset,
      pools: [{ ...idlePool, pool: 'left/old', consecutiveFailures: 1, coolingReason: 'operator' }],
    },
    { provider: 'preview', kind: 'preview', origin: null, ...unset, pools: [] },
  ]);
});

test('a pool that no task has requested a slot of yet is shown by its limit', async () => {
  const db = { run: async () => [] } as unknown as Database;
  const [box] = await readProviderStatuses(db, catalogue);
  assert.deepEqual(box?.pools, [{ ...idlePool, pool: 'box/model', limit: 3 }]);
});

const stage = poolStage();

test('each pool counts its own slots, creates without a response, and waiting tasks', async () => {
  const accountId = await stage.newAccount();
  const tasks = [];
  while (tasks.length < 6) tasks.push(await stage.newTask(accountId));
  const [sent, reserved, other, ...waiting] = tasks;
  assert.ok(sent && reserved && other);
  await stage.reserve(sent, 2);
  await stage.intend(sent);
  for (const task of [reserved, ...waiting]) await stage.reserve(task, 2);
  await reserveSlot(stage.db, { ...other, ordinal: 1, pool: 'another/pool', provider: 'another', limit: 1 });
  await stage.fail();
  await stage.run(`update slot_waits set queued_at = queued_at - interval '1 hour' where task_id = $1`, [
    waiting[1]?.taskId,
  ]);
  const [another, pool, ...others] = await listPools(stage.db);
  assert.deepEqual(others, []);
  assert.deepEqual(another, {
    ...idle,
    pool: 'another/pool',
    provider: 'another',
    occupying: 1,
    coolingMs: 0,
    oldestWaitMs: undefined,
  });
  const { coolingMs = 0, oldestWaitMs = 0, ...counts } = pool ?? assert.fail();
  const expected = { failures: 1, coolingReason: 'busy', occupying: 2, unanswered: 1, waiting: 3 };
  assert.deepEqual(counts, { pool: stage.pool, provider, ...expected });
  assert.ok(coolingMs > 0 && coolingMs <= 3_600_000, String(coolingMs));
  assert.ok(oldestWaitMs >= 3_600_000, String(oldestWaitMs));
});
