import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createAccount } from '../../src/stores/accounts.ts';
import { listClaimedJobs } from '../../src/stores/lost-calls.ts';
import { type Admission, reserveSlot, sweepSlots } from '../../src/stores/slots.ts';
import {
  endProviderJob,
  intendReservedJob,
  listProviderJobs,
  recordProviderJob,
  recordUpstreamEnd,
  settleProviderJob,
} from '../../src/stores/provider-jobs.ts';
import { closeBreaker, listPools, setProviderSwitchAs, recordPoolFailure } from '../../src/stores/provider-pools.ts';
import { refundTask, touchGenerations } from '../../src/stores/tasks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

const provider = 'upstream';
const actor = { kind: 'command_line', name: 'ada' } as const;

type Waiter = { readonly taskId: string; readonly accountId: string };

describe('slots of a pool', () => {
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
    reserveSlot(database.db, { taskId, accountId, ordinal, pool, provider, limit });
  const intend = ({ taskId }: Waiter, ordinal = 1) =>
    intendReservedJob(database.db, { taskId, ordinal, pool, configHash: 'a'.repeat(64), config: '{}' });
  const later = (seconds: number) =>
    run(
      `update provider_jobs set reserved_at = reserved_at - $2 * interval '1 s', intended_at = intended_at - $2 * interval '1 s'
       where pool = $1`,
      [pool, seconds],
    );
  const fail = (reason: 'busy' | 'operator' = 'busy') =>
    recordPoolFailure(database.db, {
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

  test('are never more than its limit, with eight connections racing, and each free one is granted', async () => {
    const accounts = await Promise.all([newAccount(), newAccount(), newAccount()]);
    const waiters = await Promise.all(Array.from({ length: 24 }, (_, index) => newTask(accounts[index % 3] ?? '')));
    const holders = new Set<string>();
    let most = 0;
    const work = async (waiter: Waiter) => {
      await waitFor('a slot', async () => {
        if ((await reserve(waiter, 5)).kind === 'granted') return true;
        return await touchGenerations(database.db, [waiter.taskId]);
      });
      holders.add(waiter.taskId);
      most = Math.max(most, holders.size);
      await waitFor('all slots to be taken', () => (most >= 5 ? true : undefined));
      assert.ok(await intend(waiter));
      await recordProviderJob(database.db, { taskId: waiter.taskId, ordinal: 1, jobId: waiter.taskId });
      const [state] = (await listPools(database.db)).filter((one) => one.pool === pool);
      assert.ok(state && state.occupying <= 5, `${state?.occupying} slots are taken`);
      holders.delete(waiter.taskId);
      await recordUpstreamEnd(database.db, { taskId: waiter.taskId, ordinal: 1 });
    };
    await Promise.all(waiters.map(work));
    assert.equal(most, 5);
    const left = await run('select from slot_waits where pool = $1', [pool]);
    assert.equal(left.length, 0);
  });

  test('alternate between accounts, however many tasks one of them has', async () => {
    const [many, few] = [await newAccount(), await newAccount()];
    const crowd = await Promise.all(Array.from({ length: 5 }, () => newTask(many)));
    const [holder, second, ...waiting] = crowd;
    assert.ok(holder && second);
    for (const one of [holder, second]) assert.equal(await kindOf(reserve(one, 2)), 'granted');
    for (const one of waiting) assert.equal(await kindOf(reserve(one, 2)), 'full');
    const lone = await newTask(few);
    assert.equal(await kindOf(reserve(lone, 2)), 'full');
    await endProviderJob(database.db, { taskId: holder.taskId, ordinal: 1, outcome: 'not_created' });
    for (const one of waiting) assert.equal(await kindOf(reserve(one, 2)), 'full');
    assert.equal(await kindOf(reserve(lone, 2)), 'granted');
  });

  test('are requested again the later, the more tasks are in front, two minutes later at most', async () => {
    const accountId = await newAccount();
    const tasks = await Promise.all(Array.from({ length: 70 }, () => newTask(accountId)));
    const answers: Admission[] = [];
    for (const task of tasks) answers.push(await reserve(task, 1));
    const pauses = answers.flatMap((one) => (one.kind === 'full' ? [one.againInMs] : []));
    assert.deepEqual([pauses[0], pauses[1], pauses.at(-1)], [2_000, 4_000, 120_000]);
  });

  test('do not stay free for a task that has ended, or that does not take the slot it was offered', async () => {
    const accountId = await newAccount();
    const [holder, dead, ended, next] = await Promise.all([1, 2, 3, 4].map(() => newTask(accountId)));
    assert.ok(holder && dead && ended && next);
    assert.equal(await kindOf(reserve(holder, 1)), 'granted');
    for (const one of [dead, ended, next]) assert.equal(await kindOf(reserve(one, 1)), 'full');
    await endProviderJob(database.db, { taskId: holder.taskId, ordinal: 1, outcome: 'not_created' });
    assert.equal(await kindOf(reserve(next, 1)), 'full');
    await refundTask(database.db, ended.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    assert.equal(await kindOf(reserve(next, 1)), 'full');
    const [offer] = await run(
      `update slot_waits set offered_until = now() where offered_until > due_at and pool = $1 returning task_id`,
      [pool],
    );
    assert.deepEqual(offer, { task_id: dead.taskId });
    assert.equal(await kindOf(reserve(next, 1)), 'granted');
  });

  test('do not stay free for tasks that have not asked for five minutes, however many', async () => {
    const accountId = await newAccount();
    const [holder, moved, alsoMoved, next] = await Promise.all([1, 2, 3, 4].map(() => newTask(accountId)));
    assert.ok(holder && moved && alsoMoved && next);
    for (const one of [holder, moved, alsoMoved]) await reserve(one, 1);
    await endProviderJob(database.db, { taskId: holder.taskId, ordinal: 1, outcome: 'fail' });
    assert.equal(await kindOf(reserve(next, 1)), 'full');
    await run(`update slot_waits set due_at = now() - interval '5 minutes' where task_id = any($1)`, [
      [moved.taskId, alsoMoved.taskId],
    ]);
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

  test('are taken by a create without an answer and by an abandoned job until it is known to have ended', async () => {
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
    assert.equal((await reserveSlot(database.db, elsewhere)).kind, 'granted');
    // The row of the second reservation belongs to the other pool.
    assert.equal(await intend(waiter, 2), false);
  });

  test('are not granted during a cooldown, which is longer after each failure, and starts once for many failures at a time', async () => {
    const accountId = await newAccount();
    const waiter = await newTask(accountId);
    assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
    const coolingMs = async () => {
      const admission = await reserve(waiter, 1);
      if (admission.kind !== 'cooling') return admission.kind;
      const state = (await listPools(database.db)).find((one) => one.pool === pool);
      return [admission.reason, Math.ceil((state?.coolingMs ?? 0) / 5_000)];
    };
    await Promise.all(Array.from({ length: 8 }, () => fail()));
    assert.deepEqual(await coolingMs(), ['busy', 1]);
    await coolingIsOver();
    await fail();
    assert.deepEqual(await coolingMs(), ['busy', 2]);
    for (let failures = 0; failures < 20; failures += 1) {
      await coolingIsOver();
      await fail();
    }
    assert.deepEqual(await coolingMs(), ['busy', 60]);
    await closeBreaker(database.db, pool);
    assert.equal(await coolingMs(), 'granted');
  });

  test('are requested again within seconds of a cooldown that an operator ends, in the same order', async () => {
    const accountId = await newAccount();
    const [first, second] = [await newTask(accountId), await newTask(accountId)];
    await reserve(first, 1);
    await endProviderJob(database.db, { taskId: first.taskId, ordinal: 1, outcome: 'not_created' });
    const hour = 3_600_000;
    await recordPoolFailure(database.db, {
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

  test('are requested less often by each task, the more tasks wait for a pool that takes none', async () => {
    const accountId = await newAccount();
    const [first, ...others] = await Promise.all(Array.from({ length: 122 }, () => newTask(accountId)));
    assert.ok(first);
    await reserve(first, 1);
    await setProviderSwitchAs(database.db, actor, { provider, state: 'draining', reason: 'the upstream moves' });
    const pauses: number[] = [];
    for (const task of others)
      pauses.push(...[await reserve(task, 1)].map((one) => ('againInMs' in one ? one.againInMs : 0)));
    assert.deepEqual([pauses[0], pauses.at(-1)], [5_000, 120_000]);
    await setProviderSwitchAs(database.db, actor, { provider, state: 'enabled', reason: 'it has moved' });
  });

  test('are granted to one task alone after a cooldown, with eight connections racing, and to all once it is accepted', async () => {
    const accountId = await newAccount();
    const waiters = await Promise.all(Array.from({ length: 8 }, () => newTask(accountId)));
    const [first] = waiters;
    assert.ok(first);
    await reserve(first, 8);
    await endProviderJob(database.db, { taskId: first.taskId, ordinal: 1, outcome: 'not_created' });
    await fail();
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
    await closeBreaker(database.db, pool);
    const others = waiters.filter((waiter) => waiter !== probe.waiter);
    for (const waiter of others) assert.equal(await kindOf(reserve(waiter, 8, 2)), 'granted');
  });

  test('are granted again a minute after the task that tried a pool was lost before its create', async () => {
    const accountId = await newAccount();
    const [probe, next] = [await newTask(accountId), await newTask(accountId)];
    await reserve(probe, 8);
    await fail();
    await coolingIsOver();
    assert.equal(await kindOf(reserve(probe, 8)), 'granted');
    assert.equal(await kindOf(reserve(next, 8)), 'cooling');
    await run(`update provider_jobs set reserved_at = now() - interval '61 s' where pool = $1`, [pool]);
    await run(`update provider_pools set cooling_until = now() - interval '1 h' where pool = $1`, [pool]);
    assert.equal(await kindOf(reserve(next, 8)), 'granted');
  });

  test('are not granted while an operator has disabled the provider; enabling it ends its cooldowns', async () => {
    const waiter = await newTask(await newAccount());
    await reserve(waiter, 1);
    await fail('operator');
    for (const state of ['draining', 'off'] as const) {
      await setProviderSwitchAs(database.db, actor, { provider, state, reason: 'the upstream moves' });
      assert.deepEqual(await reserve(waiter, 1), { kind: 'switched_off', state, againInMs: 5_000 });
    }
    await setProviderSwitchAs(database.db, actor, { provider, state: 'enabled', reason: 'it has moved' });
    assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
  });

  test('keep the order of an account: 300 waiting tasks get theirs in turn, whichever asks first, also after a cooldown', async () => {
    const accountId = await newAccount();
    const tasks: Waiter[] = [];
    while (tasks.length < 300) tasks.push(await newTask(accountId));
    const granted: Waiter[] = [];
    const ask = async (waiter: Waiter) => {
      const kind = await kindOf(reserve(waiter, 3));
      if (kind === 'granted') granted.push(waiter);
      return kind;
    };
    for (const task of tasks) await ask(task);
    for (let ended = 0; granted.length < tasks.length; ended += 1) {
      const waiting = tasks.slice(granted.length);
      // The last one asks before the first.
      const asking = new Set([...waiting.slice(-1), ...waiting.slice(0, 1)]);
      if (ended === 100) {
        await fail();
        for (const one of asking) assert.equal(await ask(one), 'cooling');
        await coolingIsOver();
      }
      await endProviderJob(database.db, { taskId: granted[ended]?.taskId ?? '', ordinal: 1, outcome: 'fail' });
      for (const one of asking) await ask(one);
      if (ended === 100) await closeBreaker(database.db, pool);
    }
    assert.deepEqual(
      granted.map(({ taskId }) => tasks.findIndex((task) => task.taskId === taskId)),
      tasks.map((_, index) => index),
    );
  });

  test('are granted to the next task of its account before one that the upstream has declined asks again', async () => {
    const accountId = await newAccount();
    const [declined, next, last] = [await newTask(accountId), await newTask(accountId), await newTask(accountId)];
    assert.equal(await kindOf(reserve(declined, 1)), 'granted');
    for (const one of [next, last]) assert.equal(await kindOf(reserve(one, 1)), 'full');
    await endProviderJob(database.db, { taskId: declined.taskId, ordinal: 1, outcome: 'not_created' });
    assert.equal(await kindOf(reserve(declined, 1, 2)), 'full');
    assert.equal(await kindOf(reserve(next, 1)), 'granted');
    await endProviderJob(database.db, { taskId: next.taskId, ordinal: 1, outcome: 'fail' });
    assert.equal(await kindOf(reserve(last, 1)), 'full');
    assert.equal(await kindOf(reserve(declined, 1, 2)), 'granted');
  });

  test('alternate between an account with 10,000 waiting tasks and one whose first task has just come', async () => {
    const [many, few] = [await newAccount(), await newAccount()];
    const holder = await newTask(many);
    assert.equal(await kindOf(reserve(holder, 1)), 'granted');
    const rows = await run(
      `
with crowd as (
  insert into tasks (id, account_id, model, param, credits_charged, request_sha256, deadline_ms, state)
  select gen_random_uuid(), $1, 'm', '{}', 1, sha256(n::text::bytea), 1800000, 'queuing' from generate_series(1, 10000) n returning id
)
insert into slot_waits (pool, task_id, account_id, ticket, due_at)
select $2, id, $1, row_number() over (), now() + interval '1 minute' from crowd
returning task_id as "taskId", ticket`,
      [many, pool],
    );
    const crowd = rows
      .toSorted((one, other) => Number(one['ticket']) - Number(other['ticket']))
      .map(({ taskId }) => ({ accountId: many, taskId: String(taskId) }));
    const [first, second] = [await newTask(few), await newTask(few)];
    for (const one of [first, second]) assert.equal(await kindOf(reserve(one, 1)), 'full');
    let running: Waiter | undefined = holder;
    const names: string[] = [];
    const queues = { few: [first, second], many: crowd };
    while (names.length < 5) {
      if (running !== undefined)
        await endProviderJob(database.db, { taskId: running.taskId, ordinal: 1, outcome: 'fail' });
      running = undefined;
      for (const [name, queue] of Object.entries(queues)) {
        const [head] = queue;
        if (head === undefined || (await kindOf(reserve(head, 1))) !== 'granted') continue;
        running = queue.shift();
        names.push(name);
        break;
      }
      assert.ok(running, 'a free slot is granted');
    }
    assert.deepEqual(names, ['few', 'many', 'few', 'many', 'many']);
  });

  test('leave nothing behind with a task that has ended', async () => {
    const accountId = await newAccount();
    const [ended, waited, alive] = await Promise.all([1, 2, 3].map(() => newTask(accountId)));
    assert.ok(ended && waited && alive);
    for (const one of [ended, waited]) await reserve(one, 1);
    await refundTask(database.db, ended.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    await refundTask(database.db, waited.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    assert.deepEqual(await run('select from slot_waits where pool = $1', [pool]), []);
    // A request that was on its way when its task ended.
    assert.equal(await kindOf(reserve(waited, 1)), 'full');
    assert.equal(await kindOf(reserve(alive, 1)), 'full');
    await run(`update slot_waits set queued_at = now() - interval '11 minutes' where pool = $1`, [pool]);
    await sweepSlots(database.db, 100);
    assert.equal((await listProviderJobs(database.db, ended.taskId))[0]?.outcome, 'not_created');
    assert.deepEqual(await run('select task_id from slot_waits where pool = $1', [pool]), [{ task_id: alive.taskId }]);
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
