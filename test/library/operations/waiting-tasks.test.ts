import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { startCooldown, setProviderSwitchAs } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { intendReservedJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordQueuing, recordNextAttemptTime, beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { waitReasons } from '../../../src/library/operations/waiting-tasks.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { shell } from '../../support/service/person.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const provider = 'preview';
const db = () => service.database.db;
let accountId: string;
let tests = 0;
let pool = '';
beforeEach(async () => {
  tests += 1;
  pool = `${provider}/model-${tests}`;
  accountId = await createAccount(db(), { name: `account ${tests}`, credits: 1_000_000 });
  // Each test has its own tasks.
  const unfinished = await db().run<{ id: string }>({
    name: 'test-unfinished',
    text: `select id from tasks where state not in ('success', 'fail')`,
  });
  for (const { id } of unfinished) await failAndRefund(db(), id, { failCode: 'internal', failMsg: 'A test.' });
});

async function newTask(account = accountId): Promise<string> {
  const taskId = await acceptTestTask(db(), account, taskParam('waits'));
  await recordQueuing(db(), taskId);
  return taskId;
}

const reserve = (taskId: string, account = accountId, limit = 1) =>
  reserveSlot(db(), { taskId, ordinal: 1, accountId: account, pool, provider, limit });

async function take(taskId: string): Promise<void> {
  assert.equal((await reserve(taskId)).kind, 'granted');
  await intendReservedJob(db(), { taskId, ordinal: 1, pool, configHash: 'a'.repeat(64), config: '{}' });
  await recordCreatedJob(db(), { taskId, ordinal: 1, jobId: taskId });
  await beginGenerationAttempt(db(), taskId, true);
}

const documented: ReadonlySet<string> = new Set(waitReasons);
type Waiting = {
  readonly groups: readonly {
    reason: string;
    provider: string | null;
    tasks: number;
    nextTime: number | null;
    coolingReason: string | null;
    oldestMs: number;
  }[];
  readonly accounts: readonly { accountName: string; tasks: number }[];
  readonly tasks: readonly { taskId: string; reason: string; ageMs: number }[];
};
// the documented shape
async function waiting(): Promise<Waiting> {
  const answer = (await dataOf(operator.ask('GET', '/api/admin/v1/waiting'))) as unknown as Waiting;
  for (const { reason } of [...answer.groups, ...answer.tasks]) assert.ok(documented.has(reason), reason);
  return answer;
}
const reasonsOf = async () => (await waiting()).groups.map(({ reason, tasks }) => [reason, tasks]);
const coolDown = () =>
  startCooldown(db(), {
    pool,
    provider,
    reason: 'unreachable',
    baseMs: 3_600_000,
    maxMs: 3_600_000,
    isOfProvider: false,
  });
const post = (path: string, body: object) =>
  dataOf(operator.ask('POST', path, { body: { ...body, reason: 'a test' } }));

test('tasks wait for the limit of a provider, or behind other tasks of their account; a running one does not wait', async () => {
  await take(await newTask());
  const sinceMs = Date.now();
  const other = await createAccount(db(), { name: 'another', credits: 1_000 });
  for (let tasks = 0; tasks < 3; tasks += 1) await reserve(await newTask());
  await reserve(await newTask(other), other);
  const third = await createAccount(db(), { name: 'a third', credits: 1_000 });
  await reserve(await newTask(third), third);
  const { groups, accounts, tasks } = await waiting();
  assert.deepEqual(
    groups.map(({ reason, provider: at, tasks: count, nextTime }) => [reason, at, count, (nextTime ?? 0) > sinceMs]),
    [
      ['provider_limit', provider, 3, true],
      ['account_queue', provider, 2, true],
    ],
  );
  assert.deepEqual(
    accounts.map(({ accountName, tasks: count }) => [accountName, count]),
    [
      [`account ${tests}`, 3],
      ['another', 1],
      ['a third', 1],
    ],
  );
  assert.equal(tasks.length, 5);
});

test('a lost create holds its slot, and operators see why the next tasks wait', async () => {
  const lost = await newTask();
  assert.equal((await reserve(lost)).kind, 'granted');
  await intendReservedJob(db(), { taskId: lost, ordinal: 1, pool, configHash: 'a'.repeat(64), config: '{}' });
  await recordNextAttemptTime(db(), lost, 3_600_000);
  await reserve(await newTask());
  assert.deepEqual(Object.fromEntries(await reasonsOf()), { lost_response: 1, provider_limit: 1 });
  const { providers } = (await dataOf(operator.ask('GET', '/api/admin/v1/providers'))) as unknown as {
    providers: { pools: { pool: string; occupying: number; unanswered: number }[] }[]; // the documented shape
  };
  const state = providers.flatMap(({ pools }) => pools).find((one) => one.pool === pool);
  assert.deepEqual([state?.occupying, state?.unanswered], [1, 1]);
});

test('tasks wait for the end of a cooldown, and for a provider that an operator has drained', async () => {
  const sinceMs = Date.now();
  const taskId = await newTask();
  await take(await newTask());
  await coolDown();
  await reserve(taskId);
  const { groups, tasks } = await waiting();
  const cause = { reason: 'provider_cooldown', provider, pool, coolingReason: 'unreachable' };
  const { nextTime, ...group } = groups[0] ?? assert.fail();
  assert.deepEqual(group, { ...cause, tasks: 1, oldestMs: group.oldestMs });
  assert.ok(nextTime !== null && nextTime > sinceMs);
  const about = { taskId, accountId, accountName: `account ${tests}`, model: 'videogen-2.0-fast' };
  assert.deepEqual(tasks, [{ ...about, ...cause, nextTime, ageMs: tasks[0]?.ageMs }]);
  await setProviderSwitchAs(db(), shell, { provider, state: 'draining', reason: 'a test' });
  assert.deepEqual(await reasonsOf(), [['provider_disabled', 1]]);
  await setProviderSwitchAs(db(), shell, { provider, state: 'enabled', reason: 'a test' });
  assert.deepEqual(await reasonsOf(), [['provider_limit', 1]]);
});

test('tasks whose wait at a provider has ended more than a minute ago need a worker', async () => {
  await take(await newTask());
  const taskId = await newTask();
  await reserve(taskId);
  for (const [seconds, reason] of [
    [50, 'provider_limit'],
    [70, 'worker'],
  ] as const) {
    const text = `update slot_waits set due_at = now() - $2 * interval '1 second' where task_id = $1`;
    await db().run({ name: 'test-end-wait', text }, [taskId, seconds]);
    const { groups, tasks } = await waiting();
    assert.deepEqual(
      groups.map((group) => [group.reason, group.nextTime === null]),
      [[reason, reason === 'worker']],
    );
    assert.deepEqual(
      tasks.map((task) => [task.taskId, task.reason]),
      [[taskId, reason]],
    );
  }
});

test('a task whose attempt was seen less than two minutes ago does not wait', async () => {
  const taskId = await newTask();
  for (const [seconds, reasons] of [
    [110, []],
    [130, [['worker', 1]]],
  ] as const) {
    const text = `update tasks set attempt_seen_at = now() - $2 * interval '1 second' where id = $1`;
    await db().run({ name: 'test-see-attempt', text }, [taskId, seconds]);
    assert.deepEqual(await reasonsOf(), reasons);
  }
});

test('a task whose earlier create made no job, or that only has a slot, waits for its next attempt', async () => {
  const [refused, reserved] = [await newTask(), await newTask()];
  for (const taskId of [refused, reserved]) assert.equal((await reserve(taskId, accountId, 2)).kind, 'granted');
  await intendReservedJob(db(), { taskId: refused, ordinal: 1, pool, configHash: 'a'.repeat(64), config: '{}' });
  await endProviderJob(db(), { taskId: refused, ordinal: 1, outcome: 'not_created' });
  for (const taskId of [refused, reserved]) await recordNextAttemptTime(db(), taskId, 3_600_000);
  assert.deepEqual(await reasonsOf(), [['retry', 2]]);
});

test('tasks wait for their start, for a worker, and for the attempt after a failed one', async () => {
  const accepted = await acceptTestTask(db(), accountId, taskParam('not started'));
  assert.deepEqual(await reasonsOf(), []);
  const text = `update tasks set created_at = created_at - interval '11 seconds' where id = $1`;
  await db().run({ name: 'test-age-task', text }, [accepted]);
  await newTask();
  const failed = await newTask();
  await beginGenerationAttempt(db(), failed);
  assert.deepEqual(await reasonsOf(), [
    ['start', 1],
    ['worker', 1],
  ]);
  await recordNextAttemptTime(db(), failed, 60_000);
  const { tasks } = await waiting();
  assert.deepEqual(tasks.map(({ reason }) => reason).toSorted(), ['retry', 'start', 'worker']);
  await beginGenerationAttempt(db(), failed);
  assert.deepEqual((await reasonsOf()).length, 2);
});

test('a retry of one task ends its cooldown and wakes it; one that has ended stays as it is, without an entry', async () => {
  const taskId = await newTask();
  await take(await newTask());
  await coolDown();
  assert.equal((await reserve(taskId, accountId, 2)).kind, 'cooling');
  assert.deepEqual(await post('/api/admin/v1/tasks/retry', { taskId }), { isRetried: true });
  assert.equal(service.retried.at(-1), taskId);
  assert.equal((await reserve(taskId, accountId, 2)).kind, 'granted');
  await failAndRefund(db(), taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  const [last] = await listOperatorActions(db(), { limit: 1 });
  assert.deepEqual(await post('/api/admin/v1/tasks/retry', { taskId }), { isRetried: false });
  assert.deepEqual((await listOperatorActions(db(), { limit: 1 }))[0], last);
});

test('a retry of a provider wakes its tasks in order; its limit stays, and one task tries it after a cooldown', async () => {
  const taskIds = [await newTask(), await newTask(), await newTask()];
  await take(await newTask());
  await coolDown();
  for (const taskId of taskIds) await reserve(taskId, accountId, 4);
  const woken = service.retried.length;
  assert.deepEqual(await post('/api/admin/v1/providers/retry', { provider }), { tasks: 3 });
  assert.deepEqual(service.retried.slice(woken), taskIds);
  const kinds: string[] = [];
  for (const taskId of taskIds) kinds.push((await reserve(taskId, accountId, 4)).kind);
  assert.deepEqual(kinds, ['granted', 'cooling', 'cooling']);
});
