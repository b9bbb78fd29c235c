import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createAccount } from '../../src/stores/accounts.ts';
import { listClaimedJobs } from '../../src/stores/lost-calls.ts';
import { type Admission, reservePlace, sweepPlaces } from '../../src/stores/places.ts';
import {
  endProviderJob,
  intendReservedJob,
  listProviderJobs,
  recordProviderJob,
  recordUpstreamEnd,
  settleProviderJob,
} from '../../src/stores/provider-jobs.ts';
import { clearStrikes, listPools, setProviderSwitchAs, strikePool } from '../../src/stores/provider-pools.ts';
import { refundTask, touchGenerations } from '../../src/stores/tasks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

const provider = 'upstream';
const actor = { kind: 'command_line', name: 'ada' } as const;

type Waiter = { readonly taskId: string; readonly accountId: string };

describe('places of a pool', () => {
  let database: TestDatabase;
  let pools = 0;
  let pool: string;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => {
    pools += 1;
    pool = `${provider}/model-${pools}`;
  });
  after(() => database.close());

  const run = (text: string, values: unknown[] = []) =>
    database.db.run({ name: 'test', text, plannedAnew: true }, values);
  const newAccount = () => createAccount(database.db, { name: 'a', credits: 1_000_000 });
  const newTask = async (accountId: string): Promise<Waiter> => {
    return { accountId, taskId: await acceptTestTask(database.db, accountId, taskParam('waits')) };
  };
  const reserve = ({ taskId, accountId }: Waiter, limit: number, ordinal = 1): Promise<Admission> =>
    reservePlace(database.db, { taskId, accountId, ordinal, pool, provider, limit });
  const intend = ({ taskId }: Waiter, ordinal = 1) =>
    intendReservedJob(database.db, { taskId, ordinal, pool, configHash: 'a'.repeat(64), config: '{}' });
  const later = (seconds: number) =>
    run(
      `update provider_jobs set reserved_at = reserved_at - $2 * interval '1 s', intended_at = intended_at - $2 * interval '1 s'
       where pool = $1`,
      [pool, seconds],
    );
  const strike = (reason: 'busy' | 'operator' = 'busy') =>
    strikePool(database.db, {
      pool,
      provider,
      reason,
      baseMs: 5_000,
      maxMs: 300_000,
      isOfProvider: reason === 'operator',
    });
  const coolingIsOver = () =>
    run(`update provider_pools set cooling_until = now() - interval '1 ms' where pool = $1`, [pool]);
  const kindOf = async (admission: Promise<Admission>) => (await admission).kind;

  test('are never more than its limit, with eight connections racing, and each that is free is given', async () => {
    const accounts = await Promise.all([newAccount(), newAccount(), newAccount()]);
    const waiters = await Promise.all(Array.from({ length: 24 }, (_, index) => newTask(accounts[index % 3] ?? '')));
    const holders = new Set<string>();
    let most = 0;
    const work = async (waiter: Waiter) => {
      await waitFor('a place', async () => {
        if ((await reserve(waiter, 5)).kind === 'granted') return true;
        return await touchGenerations(database.db, [waiter.taskId]);
      });
      holders.add(waiter.taskId);
      most = Math.max(most, holders.size);
      await waitFor('all places to be given', () => (most >= 5 ? true : undefined));
      assert.ok(await intend(waiter));
      await recordProviderJob(database.db, { taskId: waiter.taskId, ordinal: 1, jobId: waiter.taskId });
      const [state] = (await listPools(database.db)).filter((one) => one.pool === pool);
      assert.ok(state && state.occupying <= 5, `${state?.occupying} places are taken`);
      holders.delete(waiter.taskId);
      await recordUpstreamEnd(database.db, { taskId: waiter.taskId, ordinal: 1 });
    };
    await Promise.all(waiters.map(work));
    assert.equal(most, 5);
    const left = await run('select from place_waits where pool = $1', [pool]);
    assert.equal(left.length, 0);
  });

  test('go to accounts in rotation, however many tasks one of them has', async () => {
    const [many, few] = [await newAccount(), await newAccount()];
    const crowd = await Promise.all(Array.from({ length: 5 }, () => newTask(many)));
    const [holder, second, ...waiting] = crowd;
    assert.ok(holder && second);
    for (const one of [holder, second]) assert.equal(await kindOf(reserve(one, 2)), 'granted');
    for (const one of waiting) assert.equal(await kindOf(reserve(one, 2)), 'full');
    const lone = await newTask(few);
    const asked = await reserve(lone, 2);
    assert.deepEqual([asked.kind, asked.kind === 'full' && asked.ahead], ['full', 0]);
    await endProviderJob(database.db, { taskId: holder.taskId, ordinal: 1, outcome: 'not_created' });
    for (const one of waiting) assert.equal(await kindOf(reserve(one, 2)), 'full');
    assert.equal(await kindOf(reserve(lone, 2)), 'granted');
  });

  test('are asked for again the later, the more tasks are in front, two minutes later at most', async () => {
    const accountId = await newAccount();
    const tasks = await Promise.all(Array.from({ length: 70 }, () => newTask(accountId)));
    const answers: Admission[] = [];
    for (const task of tasks) answers.push(await reserve(task, 1));
    const waits = answers.flatMap((one) => (one.kind === 'full' ? [[one.ahead, one.againInMs]] : []));
    assert.deepEqual(
      [waits[0], waits[1], waits.at(-1)],
      [
        [0, 2_000],
        [1, 4_000],
        [68, 120_000],
      ],
    );
  });

  test('do not stay empty for a waiter that has died or whose task has ended', async () => {
    const accountId = await newAccount();
    const [holder, dead, ended, next] = await Promise.all([1, 2, 3, 4].map(() => newTask(accountId)));
    assert.ok(holder && dead && ended && next);
    assert.equal(await kindOf(reserve(holder, 1)), 'granted');
    for (const one of [dead, ended, next]) assert.equal(await kindOf(reserve(one, 1)), 'full');
    await endProviderJob(database.db, { taskId: holder.taskId, ordinal: 1, outcome: 'not_created' });
    assert.equal(await kindOf(reserve(next, 1)), 'full');
    await run(`update place_waits set due_at = now() - interval '16 s' where task_id = $1`, [dead.taskId]);
    await refundTask(database.db, ended.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    assert.equal(await kindOf(reserve(next, 1)), 'granted');
  });

  test('are free again when a reservation makes no call within a minute, unless its attempt is alive', async () => {
    const accountId = await newAccount();
    const [holder, next] = [await newTask(accountId), await newTask(accountId)];
    assert.equal(await kindOf(reserve(holder, 1)), 'granted');
    await later(50);
    await touchGenerations(database.db, [holder.taskId]);
    await later(50);
    assert.equal(await kindOf(reserve(next, 1)), 'full');
    await later(11);
    assert.equal(await kindOf(reserve(next, 1)), 'granted');
    assert.equal(await intend(holder), false);
    assert.equal((await listProviderJobs(database.db, holder.taskId))[0]?.isIntended, false);
    // It waits like any other, and its row is used again.
    assert.equal(await kindOf(reserve(holder, 1)), 'full');
    assert.equal(await kindOf(reserve(holder, 2)), 'granted');
    assert.equal((await listProviderJobs(database.db, holder.taskId)).length, 1);
  });

  test('are taken by a call without an answer and by a job that was given up, until it is known to have ended', async () => {
    const accountId = await newAccount();
    const [silent, abandoned, next] = await Promise.all([1, 2, 3].map(() => newTask(accountId)));
    assert.ok(silent && abandoned && next);
    for (const one of [silent, abandoned]) {
      assert.equal(await kindOf(reserve(one, 2)), 'granted');
      assert.ok(await intend(one));
    }
    const failure = { failCode: 'timeout', failMsg: 'Too late.' } as const;
    await endProviderJob(database.db, { taskId: abandoned.taskId, ordinal: 1, outcome: 'abandoned', failure });
    await later(3600);
    assert.equal(await kindOf(reserve(next, 2)), 'full');
    await settleProviderJob(database.db, { taskId: abandoned.taskId, ordinal: 1, outcome: 'abandoned' });
    assert.equal(await kindOf(reserve(next, 2)), 'granted');
    await endProviderJob(database.db, { taskId: silent.taskId, ordinal: 1, outcome: 'abandoned', isSettled: true });
    assert.equal(await kindOf(reserve(await newTask(accountId), 2)), 'granted');
  });

  test('are for one call each: of two attempts at one task the second finds its reservation used', async () => {
    const waiter = await newTask(await newAccount());
    for (const _attempt of ['frozen', 'next']) assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
    const intents = await Promise.all([intend(waiter), intend(waiter)]);
    assert.deepEqual(intents.toSorted(), [false, true]);
    assert.equal(await kindOf(reserve(waiter, 1)), 'full');
    const other = `${pool}-other`;
    const elsewhere = { ...waiter, ordinal: 2, pool: other, provider, limit: 1 };
    assert.equal((await reservePlace(database.db, elsewhere)).kind, 'granted');
    // The row of the second reservation belongs to the other pool.
    assert.equal(await intend(waiter, 2), false);
  });

  test('are given to nobody while the pool cools down, which takes longer after each failure, and once for many at a time', async () => {
    const accountId = await newAccount();
    const waiter = await newTask(accountId);
    assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
    const coolingMs = async () => {
      const admission = await reserve(waiter, 1);
      if (admission.kind !== 'cooling') return admission.kind;
      const state = (await listPools(database.db)).find((one) => one.pool === pool);
      return [admission.reason, Math.ceil((state?.coolingMs ?? 0) / 5_000)];
    };
    await Promise.all(Array.from({ length: 8 }, () => strike()));
    assert.deepEqual(await coolingMs(), ['busy', 1]);
    await coolingIsOver();
    await strike();
    assert.deepEqual(await coolingMs(), ['busy', 2]);
    for (let strikes = 0; strikes < 20; strikes += 1) {
      await coolingIsOver();
      await strike();
    }
    assert.deepEqual(await coolingMs(), ['busy', 60]);
    await clearStrikes(database.db, pool);
    assert.equal(await coolingMs(), 'granted');
  });

  test('are asked for again within seconds of a cooldown that an operator ends, in the order of before', async () => {
    const accountId = await newAccount();
    const [first, second] = [await newTask(accountId), await newTask(accountId)];
    await reserve(first, 1);
    await endProviderJob(database.db, { taskId: first.taskId, ordinal: 1, outcome: 'not_created' });
    const hour = 3_600_000;
    await strikePool(database.db, {
      pool,
      provider,
      reason: 'operator',
      isOfProvider: true,
      baseMs: hour,
      maxMs: hour,
    });
    assert.deepEqual(await reserve(first, 1, 2), { kind: 'cooling', reason: 'operator', againInMs: 5_000 });
    await setProviderSwitchAs(database.db, actor, { provider, state: 'enabled', reason: 'it works again' });
    assert.equal(await kindOf(reserve(second, 1)), 'full');
    assert.equal(await kindOf(reserve(first, 1, 2)), 'granted');
  });

  test('are asked for less often by each task, the more tasks wait for a pool that cools down', async () => {
    const accountId = await newAccount();
    const [first, ...others] = await Promise.all(Array.from({ length: 122 }, () => newTask(accountId)));
    assert.ok(first);
    await reserve(first, 1);
    await setProviderSwitchAs(database.db, actor, { provider, state: 'draining', reason: 'the upstream moves' });
    const pauses: number[] = [];
    for (const task of others)
      pauses.push(...[await reserve(task, 1)].map((one) => ('againInMs' in one ? one.againInMs : 0)));
    assert.deepEqual([pauses[0], pauses.at(-1)], [5_000, 6_000]);
    await setProviderSwitchAs(database.db, actor, { provider, state: 'enabled', reason: 'it has moved' });
  });

  test('are given to one task alone after a cooldown, with eight connections racing, and to all once it is accepted', async () => {
    const accountId = await newAccount();
    const waiters = await Promise.all(Array.from({ length: 8 }, () => newTask(accountId)));
    const [first] = waiters;
    assert.ok(first);
    await reserve(first, 8);
    await endProviderJob(database.db, { taskId: first.taskId, ordinal: 1, outcome: 'not_created' });
    await strike();
    await coolingIsOver();
    const kinds = await Promise.all(
      waiters.map(async (waiter) => ({ waiter, kind: await kindOf(reserve(waiter, 8, 2)) })),
    );
    const probes = kinds.filter(({ kind }) => kind === 'granted');
    assert.deepEqual([probes.length, kinds.filter(({ kind }) => kind === 'cooling').length], [1, 7]);
    const [probe] = probes;
    assert.ok(probe);
    // The attempt that tries may itself be repeated.
    assert.equal(await kindOf(reserve(probe.waiter, 8, 2)), 'granted');
    assert.ok(await intend(probe.waiter, 2));
    await recordProviderJob(database.db, { taskId: probe.waiter.taskId, ordinal: 2, jobId: 'job' });
    await clearStrikes(database.db, pool);
    const others = waiters.filter((waiter) => waiter !== probe.waiter);
    for (const waiter of others) assert.equal(await kindOf(reserve(waiter, 8, 2)), 'granted');
  });

  test('are given again a minute after the task that tried a pool was lost before its call', async () => {
    const accountId = await newAccount();
    const [probe, next] = [await newTask(accountId), await newTask(accountId)];
    await reserve(probe, 8);
    await strike();
    await coolingIsOver();
    assert.equal(await kindOf(reserve(probe, 8)), 'granted');
    assert.equal(await kindOf(reserve(next, 8)), 'cooling');
    await run(`update provider_jobs set reserved_at = now() - interval '61 s' where pool = $1`, [pool]);
    await run(`update provider_pools set cooling_until = now() - interval '1 h' where pool = $1`, [pool]);
    assert.equal(await kindOf(reserve(next, 8)), 'granted');
  });

  test('are given to nobody when an operator has switched the provider off; switching it on ends its cooldowns', async () => {
    const waiter = await newTask(await newAccount());
    await reserve(waiter, 1);
    await strike('operator');
    for (const state of ['draining', 'off'] as const) {
      await setProviderSwitchAs(database.db, actor, { provider, state, reason: 'the upstream moves' });
      assert.deepEqual(await reserve(waiter, 1), { kind: 'switched_off', state, againInMs: 5_000 });
    }
    await setProviderSwitchAs(database.db, actor, { provider, state: 'enabled', reason: 'it has moved' });
    assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
  });

  test('leave nothing behind with a task that has ended', async () => {
    const accountId = await newAccount();
    const [ended, waited, alive] = await Promise.all([1, 2, 3].map(() => newTask(accountId)));
    assert.ok(ended && waited && alive);
    for (const one of [ended, waited]) await reserve(one, 1);
    await refundTask(database.db, ended.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    await refundTask(database.db, waited.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    assert.equal(await kindOf(reserve(alive, 1)), 'full');
    await run(`update place_waits set due_at = now() - interval '11 minutes' where pool = $1`, [pool]);
    await sweepPlaces(database.db, 100);
    assert.equal((await listProviderJobs(database.db, ended.taskId))[0]?.outcome, 'not_created');
    assert.deepEqual(await run('select task_id from place_waits where pool = $1', [pool]), [{ task_id: alive.taskId }]);
    assert.equal(await kindOf(reserve(alive, 1)), 'granted');
  });

  test('an upstream id of 4 kB is recorded, and found among the ids that are taken', async () => {
    const accountId = await newAccount();
    const waiter = await newTask(accountId);
    await reserve(waiter, 1);
    await intend(waiter);
    const jobId = randomBytes(3072).toString('base64url');
    await recordProviderJob(database.db, { taskId: waiter.taskId, ordinal: 1, jobId });
    assert.deepEqual(await listClaimedJobs(database.db, provider, [jobId, 'another']), new Set([jobId]));
  });
});
