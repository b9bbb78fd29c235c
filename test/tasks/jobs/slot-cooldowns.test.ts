import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import {
  closeBreaker,
  listPools,
  startCooldown,
  setProviderSwitchAs,
} from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { poolStage, provider } from './pool-stage.ts';

const actor = { kind: 'command_line', name: 'ada' } as const;
const stage = poolStage();
const { run, newAccount, newTask, reserve, kindOf, intend, fail, endCooling } = stage;

test('a cooldown grants no slot, is longer after each failure, and starts once for concurrent failures', async () => {
  const accountId = await newAccount();
  const waiter = await newTask(accountId);
  assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
  const coolingMs = async () => {
    const admission = await reserve(waiter, 1);
    if (admission.kind !== 'cooling') return admission.kind;
    const state = (await listPools(stage.db)).find((one) => one.pool === stage.pool);
    return [admission.reason, Math.ceil((state?.coolingMs ?? 0) / 3_600_000)];
  };
  await Promise.all(Array.from({ length: 8 }, () => fail()));
  assert.deepEqual(await coolingMs(), ['busy', 1]);
  await endCooling();
  await fail();
  assert.deepEqual(await coolingMs(), ['busy', 2]);
  for (let failures = 0; failures < 20; failures += 1) {
    await endCooling();
    await fail();
  }
  assert.deepEqual(await coolingMs(), ['busy', 60]);
  await closeBreaker(stage.db, stage.pool);
  assert.equal(await coolingMs(), 'granted');
});

test('tasks repeat their requests within seconds after an operator ends a cooldown, in the same order', async () => {
  const accountId = await newAccount();
  const [first, second] = [await newTask(accountId), await newTask(accountId)];
  await reserve(first, 1);
  await endProviderJob(stage.db, { taskId: first.taskId, ordinal: 1, outcome: 'not_created' });
  const hour = 3_600_000;
  await startCooldown(stage.db, {
    pool: stage.pool,
    provider,
    reason: 'operator',
    isOfProvider: true,
    baseMs: hour,
    maxMs: hour,
  });
  assert.deepEqual(await reserve(first, 1, 2), { kind: 'cooling', reason: 'operator', againInMs: 5_000 });
  await setProviderSwitchAs(stage.db, actor, { provider, state: 'enabled', reason: 'it works again' });
  assert.equal(await kindOf(reserve(second, 1)), 'full');
  assert.equal(await kindOf(reserve(first, 1, 2)), 'granted');
});

test('tasks that wait for a draining pool repeat their requests less often the more of them wait', async () => {
  const accountId = await newAccount();
  const [first, ...others] = await Promise.all(Array.from({ length: 122 }, () => newTask(accountId)));
  assert.ok(first);
  await reserve(first, 1);
  await setProviderSwitchAs(stage.db, actor, { provider, state: 'draining', reason: 'the upstream moves' });
  const pauses: number[] = [];
  for (const task of others)
    pauses.push(...[await reserve(task, 1)].map((one) => ('againInMs' in one ? one.againInMs : 0)));
  assert.deepEqual([pauses[0], pauses.at(-1)], [5_000, 120_000]);
  await setProviderSwitchAs(stage.db, actor, { provider, state: 'enabled', reason: 'it has moved' });
});

test('after a cooldown one task gets a slot with eight racing connections, and all once its job is accepted', async () => {
  const accountId = await newAccount();
  const waiters = await Promise.all(Array.from({ length: 8 }, () => newTask(accountId)));
  const [first] = waiters;
  assert.ok(first);
  await reserve(first, 8);
  await endProviderJob(stage.db, { taskId: first.taskId, ordinal: 1, outcome: 'not_created' });
  await fail();
  await endCooling();
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
  await recordCreatedJob(stage.db, { taskId: probe.waiter.taskId, ordinal: 2, jobId: 'job' });
  await closeBreaker(stage.db, stage.pool);
  const others = waiters.filter((waiter) => waiter !== probe.waiter);
  for (const waiter of others) assert.equal(await kindOf(reserve(waiter, 8, 2)), 'granted');
});

test('a pool grants slots again a minute after the probing task was lost before its create', async () => {
  const accountId = await newAccount();
  const [probe, next] = [await newTask(accountId), await newTask(accountId)];
  await reserve(probe, 8);
  await fail();
  await endCooling();
  assert.equal(await kindOf(reserve(probe, 8)), 'granted');
  assert.equal(await kindOf(reserve(next, 8)), 'cooling');
  await run(`update provider_jobs set reserved_at = now() - interval '61 s' where pool = $1`, [stage.pool]);
  await run(`update provider_pools set cooling_until = now() - interval '1 h' where pool = $1`, [stage.pool]);
  assert.equal(await kindOf(reserve(next, 8)), 'granted');
});

test('a disabled provider grants no slot, and enabling it ends its cooldowns', async () => {
  const waiter = await newTask(await newAccount());
  await reserve(waiter, 1);
  await fail('operator');
  for (const state of ['draining', 'off'] as const) {
    await setProviderSwitchAs(stage.db, actor, { provider, state, reason: 'the upstream moves' });
    assert.deepEqual(await reserve(waiter, 1), { kind: 'switched_off', state, againInMs: 5_000 });
  }
  await setProviderSwitchAs(stage.db, actor, { provider, state: 'enabled', reason: 'it has moved' });
  assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
});
