import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { findIdsTakenByOurJobs, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { endProviderJob, freeSlotAndRecordCost, recordLeftoverJobEnd } from '../../../src/tasks/jobs/job-ends.ts';
import { closeBreaker, listPools } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { type Admission, reserveSlot, sweepSlots } from '../../../src/tasks/jobs/slots.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { touchGenerations } from '../../../src/tasks/task-rows.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { waitFor } from '../../support/wait-for.ts';
import { poolStage, provider, type Waiter } from './pool-stage.ts';

const stage = poolStage();
const { run, newAccount, newTask, reserve, kindOf, intend, fail, endCooling } = stage;
const later = (seconds: number) =>
  run(
    `update provider_jobs set reserved_at = reserved_at - $2 * interval '1 s', intended_at = intended_at - $2 * interval '1 s'
     where pool = $1`,
    [stage.pool, seconds],
  );

test('a pool never exceeds its limit with eight racing connections, and grants each free slot', async () => {
  const accounts = await Promise.all([newAccount(), newAccount(), newAccount()]);
  const waiters = await Promise.all(Array.from({ length: 24 }, (_, index) => newTask(accounts[index % 3] ?? '')));
  const holders = new Set<string>();
  let most = 0;
  const work = async (waiter: Waiter) => {
    await waitFor('a slot', async () => {
      if ((await reserve(waiter, 5)).kind === 'granted') return true;
      return await touchGenerations(stage.db, [waiter.taskId]);
    });
    holders.add(waiter.taskId);
    most = Math.max(most, holders.size);
    await waitFor('all slots to be taken', () => (most >= 5 ? true : undefined));
    assert.ok(await intend(waiter));
    await recordCreatedJob(stage.db, { taskId: waiter.taskId, ordinal: 1, jobId: waiter.taskId });
    const [state] = (await listPools(stage.db)).filter((one) => one.pool === stage.pool);
    assert.ok(state && state.occupying <= 5, `${state?.occupying} slots are taken`);
    holders.delete(waiter.taskId);
    await freeSlotAndRecordCost(stage.db, { taskId: waiter.taskId, ordinal: 1 });
  };
  await Promise.all(waiters.map(work));
  assert.equal(most, 5);
  const left = await run('select from slot_waits where pool = $1', [stage.pool]);
  assert.equal(left.length, 0);
});

test('a task repeats its request later the more tasks are in front, after two minutes at most', async () => {
  const accountId = await newAccount();
  const tasks = await Promise.all(Array.from({ length: 70 }, () => newTask(accountId)));
  const answers: Admission[] = [];
  for (const task of tasks) answers.push(await reserve(task, 1));
  const pauses = answers.flatMap((one) => (one.kind === 'full' ? [one.againInMs] : []));
  assert.deepEqual([pauses[0], pauses[1], pauses.at(-1)], [2_000, 4_000, 120_000]);
});

test('a slot is not held for a task that has ended, or that does not take the offered slot', async () => {
  const accountId = await newAccount();
  const [holder, dead, ended, next] = await Promise.all([1, 2, 3, 4].map(() => newTask(accountId)));
  assert.ok(holder && dead && ended && next);
  assert.equal(await kindOf(reserve(holder, 1)), 'granted');
  for (const one of [dead, ended, next]) assert.equal(await kindOf(reserve(one, 1)), 'full');
  await endProviderJob(stage.db, { taskId: holder.taskId, ordinal: 1, outcome: 'not_created' });
  assert.equal(await kindOf(reserve(next, 1)), 'full');
  await failAndRefund(stage.db, ended.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
  assert.equal(await kindOf(reserve(next, 1)), 'full');
  const [offer] = await run(
    `update slot_waits set offered_until = now() where offered_until > due_at and pool = $1 returning task_id`,
    [stage.pool],
  );
  assert.deepEqual(offer, { task_id: dead.taskId });
  assert.equal(await kindOf(reserve(next, 1)), 'granted');
});

test('a slot is not held for tasks that have repeated no request for five minutes', async () => {
  const accountId = await newAccount();
  const [holder, moved, alsoMoved, next] = await Promise.all([1, 2, 3, 4].map(() => newTask(accountId)));
  assert.ok(holder && moved && alsoMoved && next);
  for (const one of [holder, moved, alsoMoved]) await reserve(one, 1);
  await endProviderJob(stage.db, { taskId: holder.taskId, ordinal: 1, outcome: 'fail' });
  assert.equal(await kindOf(reserve(next, 1)), 'full');
  await run(`update slot_waits set due_at = now() - interval '5 minutes' where task_id = any($1)`, [
    [moved.taskId, alsoMoved.taskId],
  ]);
  assert.equal(await kindOf(reserve(next, 1)), 'granted');
});

test('a reservation without a create expires after a minute, unless its attempt is alive', async () => {
  const accountId = await newAccount();
  const [holder, next] = [await newTask(accountId), await newTask(accountId)];
  assert.equal(await kindOf(reserve(holder, 1)), 'granted');
  await later(50);
  await touchGenerations(stage.db, [holder.taskId]);
  await later(30);
  assert.equal(await kindOf(reserve(next, 1)), 'full');
  await later(31);
  assert.equal(await kindOf(reserve(next, 1)), 'granted');
  assert.equal(await intend(holder), false);
  assert.equal((await listProviderJobs(stage.db, holder.taskId))[0]?.isIntended, false);
  // It waits like any other, and its row is used again.
  assert.equal(await kindOf(reserve(holder, 1)), 'full');
  assert.equal(await kindOf(reserve(holder, 2)), 'granted');
  assert.equal((await listProviderJobs(stage.db, holder.taskId)).length, 1);
});

test('a create without a response and an abandoned job take a slot until their end is certain', async () => {
  const accountId = await newAccount();
  const [silent, abandoned, next] = await Promise.all([1, 2, 3].map(() => newTask(accountId)));
  assert.ok(silent && abandoned && next);
  for (const one of [silent, abandoned]) {
    assert.equal(await kindOf(reserve(one, 2)), 'granted');
    assert.ok(await intend(one));
  }
  const failure = { failCode: 'timeout', failMsg: 'Too late.' } as const;
  await endProviderJob(stage.db, { taskId: abandoned.taskId, ordinal: 1, outcome: 'abandoned', failure });
  await later(3600);
  assert.equal(await kindOf(reserve(next, 2)), 'full');
  await recordLeftoverJobEnd(stage.db, { taskId: abandoned.taskId, ordinal: 1, outcome: 'abandoned' });
  assert.equal(await kindOf(reserve(next, 2)), 'granted');
  await endProviderJob(stage.db, { taskId: silent.taskId, ordinal: 1, outcome: 'abandoned', isSettled: true });
  assert.equal(await kindOf(reserve(await newTask(accountId), 2)), 'granted');
});

test('a reservation allows one create: the second of two attempts finds it used', async () => {
  const waiter = await newTask(await newAccount());
  for (const _attempt of ['frozen', 'next']) assert.equal(await kindOf(reserve(waiter, 1)), 'granted');
  const intents = await Promise.all([intend(waiter), intend(waiter)]);
  assert.deepEqual(intents.toSorted(), [false, true]);
  assert.equal(await kindOf(reserve(waiter, 1)), 'full');
  const other = `${stage.pool}-other`;
  const elsewhere = { ...waiter, ordinal: 2, pool: other, provider, limit: 1 };
  assert.equal((await reserveSlot(stage.db, elsewhere)).kind, 'granted');
  // The row of the second reservation belongs to the other pool.
  assert.equal(await intend(waiter, 2), false);
});

test('300 tasks of an account get slots in their order, whichever requests first, also after a cooldown', async () => {
  const accountId = await newAccount();
  const tasks: Waiter[] = [];
  while (tasks.length < 300) tasks.push(await newTask(accountId));
  const granted: Waiter[] = [];
  const request = async (waiter: Waiter) => {
    const kind = await kindOf(reserve(waiter, 3));
    if (kind === 'granted') granted.push(waiter);
    return kind;
  };
  for (const task of tasks) await request(task);
  for (let ended = 0; granted.length < tasks.length; ended += 1) {
    const waiting = tasks.slice(granted.length);
    // The last one requests before the first.
    const requesting = new Set([...waiting.slice(-1), ...waiting.slice(0, 1)]);
    if (ended === 100) {
      await fail();
      for (const one of requesting) assert.equal(await request(one), 'cooling');
      await endCooling();
    }
    await endProviderJob(stage.db, { taskId: granted[ended]?.taskId ?? '', ordinal: 1, outcome: 'fail' });
    for (const one of requesting) await request(one);
    if (ended === 100) await closeBreaker(stage.db, stage.pool);
  }
  assert.deepEqual(
    granted.map(({ taskId }) => tasks.findIndex((task) => task.taskId === taskId)),
    tasks.map((_, index) => index),
  );
});

test('the next task of an account gets a slot before one that the upstream has declined', async () => {
  const accountId = await newAccount();
  const [declined, next, last] = [await newTask(accountId), await newTask(accountId), await newTask(accountId)];
  assert.equal(await kindOf(reserve(declined, 1)), 'granted');
  for (const one of [next, last]) assert.equal(await kindOf(reserve(one, 1)), 'full');
  await endProviderJob(stage.db, { taskId: declined.taskId, ordinal: 1, outcome: 'not_created' });
  assert.equal(await kindOf(reserve(declined, 1, 2)), 'full');
  assert.equal(await kindOf(reserve(next, 1)), 'granted');
  await endProviderJob(stage.db, { taskId: next.taskId, ordinal: 1, outcome: 'fail' });
  assert.equal(await kindOf(reserve(last, 1)), 'full');
  assert.equal(await kindOf(reserve(declined, 1, 2)), 'granted');
});

test('an account with 10,000 waiting tasks and one with two new tasks alternate', async () => {
  const [many, few] = [await newAccount(), await newAccount()];
  const holder = await newTask(many);
  assert.equal(await kindOf(reserve(holder, 1)), 'granted');
  const rows: Record<string, unknown>[] = [];
  // One statement for all of them exceeds the time of a statement on a slow machine.
  while (rows.length < 10_000) {
    const part = await run(
      `
with crowd as (
insert into tasks (id, account_id, model, param, price_name, credits_charged, request_sha256, deadline_ms, state)
select gen_random_uuid(), $1, 'm', '{}', 'standard', 1, sha256(n::text::bytea), 1800000, 'queuing' from generate_series(1, 500) n returning id
)
insert into slot_waits (pool, task_id, account_id, ticket, due_at)
select $2, id, $1, $3::integer + row_number() over (), now() + interval '1 minute' from crowd
returning task_id as "taskId", ticket`,
      [many, stage.pool, rows.length],
    );
    rows.push(...part);
  }
  const crowd = rows
    .toSorted((one, other) => Number(one['ticket']) - Number(other['ticket']))
    .map(({ taskId }) => ({ accountId: many, taskId: String(taskId) }));
  const [first, second] = [await newTask(few), await newTask(few)];
  for (const one of [first, second]) assert.equal(await kindOf(reserve(one, 1)), 'full');
  let running: Waiter | undefined = holder;
  const names: string[] = [];
  const queues = { few: [first, second], many: crowd };
  while (names.length < 5) {
    if (running !== undefined) await endProviderJob(stage.db, { taskId: running.taskId, ordinal: 1, outcome: 'fail' });
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

test('a task that has ended leaves no reservation and no queue entry', async () => {
  const accountId = await newAccount();
  const [ended, waited, alive] = await Promise.all([1, 2, 3].map(() => newTask(accountId)));
  assert.ok(ended && waited && alive);
  for (const one of [ended, waited]) await reserve(one, 1);
  await failAndRefund(stage.db, ended.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
  await failAndRefund(stage.db, waited.taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
  assert.deepEqual(await run('select from slot_waits where pool = $1', [stage.pool]), []);
  // This request was in flight when its task ended.
  assert.equal(await kindOf(reserve(waited, 1)), 'full');
  assert.equal(await kindOf(reserve(alive, 1)), 'full');
  await run(`update slot_waits set queued_at = now() - interval '11 minutes' where pool = $1`, [stage.pool]);
  await sweepSlots(stage.db, 100);
  assert.equal((await listProviderJobs(stage.db, ended.taskId))[0]?.outcome, 'not_created');
  assert.deepEqual(await run('select task_id from slot_waits where pool = $1', [stage.pool]), [
    { task_id: alive.taskId },
  ]);
  assert.equal(await kindOf(reserve(alive, 1)), 'granted');
});

test('an upstream id of 4 kB is recorded, and found among the ids that are taken', async () => {
  const accountId = await newAccount();
  const waiter = await newTask(accountId);
  await reserve(waiter, 1);
  await intend(waiter);
  const jobId = randomBytes(3072).toString('base64url');
  await recordCreatedJob(stage.db, { taskId: waiter.taskId, ordinal: 1, jobId });
  assert.deepEqual(await findIdsTakenByOurJobs(stage.db, provider, [jobId, 'another']), new Set([jobId]));
});

test('a request that joins the queue waits two seconds more for each round of slots in front of it', async () => {
  const accountId = await newAccount();
  const pauses: number[] = [];
  for (let tasks = 0; tasks < 8; tasks += 1) {
    const admission = await reserve(await newTask(accountId), 2);
    pauses.push(admission.kind === 'full' ? admission.againInMs : 0);
  }
  assert.deepEqual(pauses, [0, 0, 2_000, 2_000, 4_000, 4_000, 6_000, 6_000]);
});

test('a task that gets a slot leaves the queues of all pools, and no other task does', async () => {
  const accountId = await newAccount();
  const [holder, next, other] = [await newTask(accountId), await newTask(accountId), await newTask(accountId)];
  const elsewhere = `${stage.pool}-elsewhere`;
  const reserveElsewhere = ({ taskId }: Waiter) =>
    reserveSlot(stage.db, { taskId, accountId, ordinal: 1, pool: elsewhere, provider, limit: 1 });
  assert.equal(await kindOf(reserve(holder, 1)), 'granted');
  assert.equal(await kindOf(reserveElsewhere(await newTask(accountId))), 'granted');
  for (const one of [next, other]) {
    await reserve(one, 1);
    assert.equal(await kindOf(reserveElsewhere(one)), 'full');
  }
  await endProviderJob(stage.db, { taskId: holder.taskId, ordinal: 1, outcome: 'fail' });
  assert.equal(await kindOf(reserve(next, 1)), 'granted');
  const waits = await run('select pool, task_id from slot_waits where task_id = any($1) order by pool', [
    [next.taskId, other.taskId],
  ]);
  assert.deepEqual(waits, [
    { pool: stage.pool, task_id: other.taskId },
    { pool: elsewhere, task_id: other.taskId },
  ]);
});

test('a sweep ends the unused reservations of ended tasks, and old waits of tasks that have ended or gone elsewhere', async () => {
  const accountId = await newAccount();
  const [minuteMs, hourMs] = [60_000, 3_600_000];
  await rolledBack(stage.db, async (db) => {
    const { pool } = stage;
    const ended = failedAgo(0);
    const jobs: unknown[] = [];
    for (const [task, row, isSwept] of [
      [ended, { pool, reserved_at: ago(0) }, true],
      [{}, { pool, reserved_at: ago(hourMs) }, false],
      [ended, { pool, reserved_at: ago(0), intended_at: ago(0) }, false],
      [ended, { reserved_at: ago(0) }, false],
      [ended, { pool, reserved_at: ago(0), settled_at: ago(0) }, false],
      [ended, { pool, reserved_at: ago(0), upstream_ended_at: ago(0) }, false],
    ] as const) {
      const taskId = await insertTask(db, accountId, task);
      await insertRow(db, 'provider_jobs', { task_id: taskId, ordinal: 1, provider, ...row });
      jobs.push({ task_id: taskId, outcome: isSwept ? 'not_created' : null, is_ended: isSwept ? true : null });
    }
    const kept: string[] = [];
    for (const [task, queuedMs, dueMs, isSwept] of [
      [{}, 10 * minuteMs + 1, hourMs + 1, true],
      [ended, 10 * minuteMs + 1, 0, true],
      [ended, 10 * minuteMs, hourMs + 1, false],
      [{}, 10 * minuteMs + 1, hourMs, false],
      [{}, hourMs, 0, false],
    ] as const) {
      const taskId = await insertTask(db, accountId, task);
      const wait = { pool: `${pool}-sweep`, task_id: taskId, account_id: accountId, ticket: 1 };
      await insertRow(db, 'slot_waits', { ...wait, queued_at: ago(queuedMs), due_at: ago(dueMs) });
      if (!isSwept) kept.push(taskId);
    }
    const waits = async () => {
      const text = 'select task_id as id from slot_waits where pool = $1';
      const rows = await db.run<{ id: string }>({ name: 'test-waits', text }, [`${pool}-sweep`]);
      return rows.map(({ id }) => id).toSorted();
    };
    await sweepSlots(db, 1);
    assert.equal((await waits()).length, 4, 'one page');
    await sweepSlots(db, 100);
    assert.deepEqual(await waits(), kept.toSorted());
    const ids = jobs.map((job) => (job as { readonly task_id: string }).task_id);
    const text = 'select task_id, outcome, ended_at = now() as is_ended from provider_jobs where task_id = any($1)';
    const rows = await db.run<{ task_id: string }>({ name: 'test-swept', text }, [ids]);
    assert.deepEqual(
      rows.toSorted((one, two) => ids.indexOf(one.task_id) - ids.indexOf(two.task_id)),
      jobs,
    );
  });
});
