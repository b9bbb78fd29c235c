import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import pg from 'pg';
import type { ActivityDeps } from '../../activities/deps.ts';
import { recoverJob } from '../../activities/generation/recover.ts';
import { nextJob } from '../../activities/generation/reserve.ts';
import { commitIntent, requestFor, submitJob } from '../../activities/generation/submit.ts';
import { createReconcileActivities } from '../../activities/reconcile.ts';
import type { CatalogueModel } from '../../src/domain/catalogue/models.ts';
import type { WorkflowDescription } from '../../src/domain/ports.ts';
import type { FailCode } from '../../src/domain/task.ts';
import { closeAccountAs, finishClosure } from '../../src/stores/account-closure.ts';
import { createAccount } from '../../src/stores/accounts.ts';
import {
  cancelGraceMs,
  completeTask,
  confirmCharge,
  findTask,
  refundTask,
  startGeneration,
} from '../../src/stores/tasks.ts';
import { deleteTaskContent } from '../../src/stores/content-deletion.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import {
  endProviderJob,
  intendReservedJob,
  listProviderJobs,
  recordProviderJob,
} from '../../src/stores/provider-jobs.ts';
import { countStuckTasks } from '../../src/stores/task-list.ts';
import { activityDeps } from '../support/activity-deps.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { reserveSlot } from '../../src/stores/slots.ts';
import type { PolledProvider } from '../../src/providers/contract.ts';
import { jobRequest } from '../providers/job-request.ts';
import { attemptAt } from '../support/attempt-at.ts';
import { providersOf } from '../support/fake-providers.ts';
import { createFakeUpstream, type FakeUpstream } from '../support/fake-upstream.ts';
import { interruptedDeps, Killed } from '../support/interrupted-deps.ts';
import { silentActivity } from '../support/silent-activity.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../support/tasks.ts';

// `reconcile` against an engine that is played: what it decides, in which order, and what it does when it dies in the middle.

let database: TestDatabase;
let folder: string;
let accountId: string;
let upstream: FakeUpstream;
let calls: string[];
let looks: Map<string, WorkflowDescription | Error>;
before(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'videogen-reconcile-'));
  accountId = await createAccount(database.db, { name: 'reconcile', credits: 10_000_000 });
});
beforeEach(async () => {
  await administer(`update accounts set max_unfinished_tasks = 100000`);
  for (const taskId of await unfinished()) await refundTask(database.db, taskId, failure('internal'));
  await administer(`update provider_jobs set settled_at = now() where settled_at is null`);
  upstream = createFakeUpstream({ instant: false });
  calls = [];
  looks = new Map();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await rm(folder, { recursive: true });
  await database.close();
  assert.deepEqual(violations, []);
});

const running: WorkflowDescription = {
  status: 'running',
  codeFailure: undefined,
  pendingActivities: ['generateVideo'],
};
const gone: WorkflowDescription = { status: 'terminated', codeFailure: undefined, pendingActivities: [] };
const minuteMs = 60_000;
/** Its code first failed so many minutes ago, and was last tried so many minutes ago. */
const failing = (sinceMinutes: number, retriedMinutes: number | undefined): WorkflowDescription => {
  const ago = (minutes: number) => Date.now() - minutes * minuteMs;
  const retriedAt = retriedMinutes === undefined ? undefined : ago(retriedMinutes);
  return { ...running, codeFailure: { since: ago(sinceMinutes), retriedAt, message: 'x is not a function' } };
};
const failure = (failCode: FailCode) => ({ failCode, failMsg: 'A test.' });

function deps(): ActivityDeps {
  return {
    ...activityDeps(database.db, folder, [upstream]),
    engine: {
      startTask: async ({ taskId }) => {
        calls.push(`start ${taskId}`);
        return !looks.has(taskId);
      },
      describeTask: async (taskId) => {
        const look = looks.get(taskId) ?? running;
        if (look instanceof Error) throw look;
        return look;
      },
      cancelTask: async (taskId) => calls.push(`cancel ${taskId}`) > 0,
      terminateTask: async (taskId) => void calls.push(`terminate ${taskId}`),
      forgetTask: async (taskId) => calls.push(`forget ${taskId}`) > 0,
      startClosing: async (closing) => void calls.push(`close ${closing}`),
      startDelivery: async ({ taskId }) => void calls.push(`deliver ${taskId}`),
      wakeDelivery: async ({ taskId }) => void calls.push(`wake ${taskId}`),
    },
  };
}

const activities = (world = deps()) => createReconcileActivities(world);
const run = <T>(work: () => Promise<T>) => silentActivity({ workflowId: 'reconcile' }, work);
/** Old enough to be no business of the process that accepted it. */
const accepted = async (look?: WorkflowDescription | Error, callBackUrl?: string) => {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('reconciled', {}, callBackUrl));
  await administer(`update tasks set created_at = created_at - interval '11 s' where id = '${taskId}'`);
  if (look !== undefined) {
    looks.set(taskId, look);
    await confirmCharge(database.db, taskId);
  }
  return taskId;
};
const failCodeOf = async (taskId: string) => (await findTask(database.db, taskId))?.failure?.failCode;

test('tasks without a workflow are started in order of arrival, those of the last seconds are left alone', async () => {
  const taskIds: string[] = [];
  for (let index = 0; index < 450; index += 1) {
    taskIds.push(await acceptTestTask(database.db, accountId, taskParam('waiting')));
  }
  // However long the creates took, their processes may still be at it.
  await administer(`update tasks set created_at = created_at + interval '1 hour' where state = 'waiting'`);
  assert.equal((await run(activities().settleTasks)).started, 0);
  await administer(`update tasks set created_at = created_at - interval '1 hour 11 s' where state = 'waiting'`);
  const settled = await run(activities().settleTasks);
  assert.deepEqual(settled, { started: 450, refunded: 0, failed: 0 });
  assert.deepEqual(
    calls,
    taskIds.map((taskId) => `start ${taskId}`),
  );
});

test('a run that is cut off in the middle of many tasks is continued by the next one, so that younger tasks get their turn', async () => {
  const taskIds: string[] = [];
  for (let index = 0; index < 450; index += 1)
    taskIds.push(await acceptTestTask(database.db, accountId, taskParam('waiting')));
  await administer(`update tasks set created_at = created_at - interval '11 s' where state = 'waiting'`);
  const dead = new AbortController();
  const world = deps();
  const startTask: typeof world.engine.startTask = async (task) => {
    if (calls.length === 300) dead.abort(new Killed());
    return world.engine.startTask(task);
  };
  const dying = interruptedDeps({ ...world, engine: { ...world.engine, startTask } }, undefined, dead);
  await assert.rejects(run(activities(dying.deps).settleTasks), Killed);
  calls = [];
  await run(activities().settleTasks);
  assert.deepEqual(
    calls,
    taskIds.slice(200).map((taskId) => `start ${taskId}`),
    'from the page that was not finished',
  );
  calls = [];
  await run(activities().settleTasks);
  assert.equal(calls.length, 450, 'and then all again');
});

test('each account that is being closed has its workflow started until it is empty, also when one cannot be started', async () => {
  const actor = { kind: 'command_line', name: 'ada' } as const;
  const closing = [];
  for (let index = 0; index < 3; index += 1) {
    const closed = await createAccount(database.db, { name: 'closed', credits: 0 });
    await closeAccountAs(database.db, actor, { accountId: closed, reason: 'asked for' });
    closing.push(closed);
  }
  const [first = '', ...others] = closing;
  const world = deps();
  const startClosing: typeof world.engine.startClosing = (closed) =>
    closed === first ? Promise.reject(new Error('no')) : world.engine.startClosing(closed);
  await run(activities({ ...world, engine: { ...world.engine, startClosing } }).startClosings);
  assert.deepEqual(calls.toSorted(), others.map((closed) => `close ${closed}`).toSorted());
  for (const closed of others) assert.equal((await finishClosure(database.db, closed)).outcome, 'finished');
  calls = [];
  await run(activities().startClosings);
  assert.deepEqual(calls, [`close ${first}`]);
});

test('one task that cannot be looked at stops none of the others', async () => {
  const good = await accepted(gone);
  const bad = await accepted(new Error('describe failed'));
  const alsoGood = await accepted(gone);
  assert.deepEqual(await run(activities().settleTasks), { started: 0, refunded: 2, failed: 1 });
  assert.deepEqual(
    [await failCodeOf(good), await failCodeOf(bad), await failCodeOf(alsoGood)],
    ['terminated', undefined, 'terminated'],
  );
});

test('a workflow that runs is left alone, however long its task has waited behind others', async () => {
  const taskId = await accepted(running);
  await administer(`update tasks set created_at = now() - interval '23 hours' where id = '${taskId}'`);
  assert.equal((await run(activities().settleTasks)).refunded, 0);
});

for (const [what, look, failCode] of [
  ['was deleted', { ...gone, status: 'missing' }, 'terminated'],
  ['was terminated', gone, 'terminated'],
  ['was cancelled', { ...gone, status: 'cancelled' }, 'cancelled'],
  ['failed', { ...gone, status: 'failed' }, 'internal'],
  ['timed out', { ...gone, status: 'timed_out' }, 'timeout'],
  ['completed without ending its task', { ...gone, status: 'completed' }, 'internal'],
  ['is stuck in its code', failing(12, 1), 'internal'],
] satisfies [string, WorkflowDescription, FailCode][]) {
  test(`the task of a workflow that ${what} is refunded as ${failCode} and called back at once`, async () => {
    const taskId = await accepted(look, 'http://receiver.test/');
    assert.equal((await run(activities().settleTasks)).refunded, 1);
    assert.equal(await failCodeOf(taskId), failCode);
    const ends = look.status === 'running' ? [`terminate ${taskId}`] : [];
    assert.deepEqual(calls, [`deliver ${taskId}`, ...ends]);
  });
}

// Seen from the moment of its test: those before it take their time on a busy machine.
for (const [what, look] of [
  ['has failed for nine minutes', () => failing(9, 1)],
  ['failed long ago and was not tried since the time was over, for tries lie minutes apart', () => failing(14, 5)],
  ['failed long ago and is just being tried', () => failing(20, 0)],
  ['failed long ago and waits for a worker to try it', () => failing(20, undefined)],
] satisfies [string, () => WorkflowDescription][]) {
  test(`a task whose code ${what} is counted as stuck and not refunded`, async () => {
    const taskId = await accepted(look());
    assert.equal((await run(activities().settleTasks)).refunded, 0);
    assert.deepEqual([await failCodeOf(taskId), calls, await countStuckTasks(database.db)], [undefined, [], 1]);
  });
}

test('a task whose code goes on again is counted as stuck no longer', async () => {
  const taskId = await accepted(failing(5, 1));
  await run(activities().settleTasks);
  assert.equal(await countStuckTasks(database.db), 1);
  looks.set(taskId, running);
  await run(activities().settleTasks);
  assert.equal(await countStuckTasks(database.db), 0);
});

test('a stuck task that is refunded is counted as stuck no longer', async () => {
  await accepted(failing(12, 1));
  await run(activities().settleTasks);
  assert.equal(await countStuckTasks(database.db), 0);
});

test('the refund with its true reason comes before the end of the workflow, which is repeated until the engine answers', async () => {
  const taskId = await accepted(failing(12, 1));
  const world = deps();
  let seen: FailCode | undefined;
  const terminateTask = async (id: string) => {
    seen = await failCodeOf(id);
    throw new Error('the engine is unavailable');
  };
  await run(activities({ ...world, engine: { ...world.engine, terminateTask } }).settleTasks);
  assert.deepEqual([seen, await failCodeOf(taskId), calls], ['internal', 'internal', []]);
  looks.set(taskId, { ...running, status: 'terminated' });
  await run(activities().settleTasks);
  assert.deepEqual([calls, await failCodeOf(taskId)], [[`terminate ${taskId}`], 'internal']);
  await run(activities().settleTasks);
  assert.deepEqual(calls, [`terminate ${taskId}`], 'once is enough');
});

test('a workflow that has not ended ten minutes after its task was cancelled is ended', async () => {
  const taskId = await accepted(running);
  await refundTask(database.db, taskId, failure('cancelled'), { terminatesAfterMs: cancelGraceMs });
  await run(activities().settleTasks);
  assert.deepEqual(calls, []);
  await administer(`update workflow_terminations set due_at = due_at - interval '10 minutes'`);
  await run(activities().settleTasks);
  assert.deepEqual(calls, [`terminate ${taskId}`]);
});

test('a task that ends while it is looked at keeps its end, and reconcile claims nothing', async () => {
  const taskId = await accepted(gone, 'http://receiver.test/');
  const world = deps();
  const describeTask = async (id: string) => {
    await completeTask(database.db, id, madeUpResult);
    return world.engine.describeTask(id);
  };
  const settled = await run(activities({ ...world, engine: { ...world.engine, describeTask } }).settleTasks);
  assert.deepEqual([settled.refunded, calls, await failCodeOf(taskId)], [0, [], undefined]);
});

test('a generation two minutes past its deadline is ended, one that stores its video is not', async () => {
  const storing: WorkflowDescription = { ...running, pendingActivities: ['storeResult'] };
  const [late, inTime, isStoring] = [await accepted(running), await accepted(running), await accepted(storing)];
  for (const taskId of [late, inTime, isStoring]) await startGeneration(database.db, taskId);
  await Promise.all([runsFor(late, 185), runsFor(inTime, 175), runsFor(isStoring, 185)]);
  assert.equal((await run(activities().settleTasks)).refunded, 1);
  assert.deepEqual([await failCodeOf(late), calls], ['timeout', [`terminate ${late}`]]);
});

test('a generation that broke off and waits in the queue is not ended, however long ago it began', async () => {
  const taskId = await accepted(running);
  await startGeneration(database.db, taskId);
  await runsFor(taskId, 50);
  await administer(`update tasks set created_at = now() - interval '23 hours',
    generation_started_at = now() - interval '23 hours', attempt_started_at = attempt_started_at - interval '22 hours',
    attempt_seen_at = attempt_seen_at - interval '22 hours' where id = '${taskId}'`);
  assert.equal((await run(activities().settleTasks)).refunded, 0);
});

test('a task that has waited for a day in all, whatever it waited for, is ended', async () => {
  const [queued, brokenOff] = [
    await accepted(running),
    await accepted({ ...running, pendingActivities: ['storeResult'] }),
  ];
  await startGeneration(database.db, brokenOff);
  await runsFor(brokenOff, 50);
  await administer(`update tasks set created_at = now() - interval '1445 minutes',
    attempt_started_at = attempt_started_at - interval '10 minutes',
    attempt_seen_at = attempt_seen_at - interval '10 minutes' where state in ('queuing', 'generating')`);
  assert.equal((await run(activities().settleTasks)).refunded, 2);
  assert.deepEqual([await failCodeOf(queued), await failCodeOf(brokenOff)], ['timeout', 'timeout']);
});

test('after a day without Temporal a task that never began is refunded, not begun; one that is being generated is left', async () => {
  const [waiting, generating] = [await accepted(), await accepted(running)];
  await startGeneration(database.db, generating);
  await administer(
    `update tasks set created_at = now() - interval '1500 minutes' where state in ('waiting', 'generating')`,
  );
  looks.set(waiting, { status: 'missing', codeFailure: undefined, pendingActivities: [] });
  assert.deepEqual(await run(activities().settleTasks), { started: 0, refunded: 1, failed: 0 });
  assert.deepEqual([await failCodeOf(waiting), await failCodeOf(generating)], ['timeout', undefined]);
  assert.deepEqual(calls, []);
});

test('a running task is judged by the deadline it was accepted with, whatever the catalogue says today', async () => {
  const taskId = await accepted(running);
  await startGeneration(database.db, taskId);
  await runsFor(taskId, 185);
  await administer(`update tasks set deadline_ms = 3600000 where id = '${taskId}'`);
  const world = deps();
  for (const models of [world.models, new Map<string, CatalogueModel>()]) {
    assert.equal((await run(activities({ ...world, models }).settleTasks)).refunded, 0);
  }
});

test('a run that dies anywhere is completed by the next one: one refund, one callback owed', async () => {
  for (let call = 0, hasDied = true; hasDied; call += 1) {
    for (const when of ['before', 'after'] as const) {
      const taskId = await accepted(gone, 'http://receiver.test/');
      const dying = interruptedDeps(deps(), { call, when });
      await run(activities(dying.deps).settleTasks).catch((error: unknown) => assert.ok(error instanceof Killed));
      hasDied = dying.calls.length > call;
      await run(activities().settleTasks);
      assert.equal(await failCodeOf(taskId), 'terminated');
      assert.deepEqual(
        (await listTaskEntries(database.db, taskId)).map(({ kind }) => kind),
        ['charge', 'refund'],
      );
      const [row] = await administer(
        `select count(*)::int as owed from callback_deliveries where task_id = '${taskId}'`,
      );
      assert.deepEqual(row, { owed: 1 });
    }
  }
});

test('a run that dies anywhere while it settles a stuck task is completed: the true reason, one refund, its workflow ended', async () => {
  for (let call = 0, hasDied = true; hasDied; call += 1) {
    for (const when of ['before', 'after'] as const) {
      const taskId = await accepted(failing(12, 1), 'http://receiver.test/');
      const dying = interruptedDeps(deps(), { call, when });
      await run(activities(dying.deps).settleTasks).catch((error: unknown) => assert.ok(error instanceof Killed));
      hasDied = dying.calls.length > call;
      // What the first run has ended is looked at as it then stands.
      if (calls.includes(`terminate ${taskId}`)) looks.set(taskId, gone);
      await run(activities().settleTasks);
      assert.equal(await failCodeOf(taskId), 'internal');
      assert.ok(calls.includes(`terminate ${taskId}`));
      const kinds = (await listTaskEntries(database.db, taskId)).map(({ kind }) => kind);
      assert.deepEqual(kinds, ['charge', 'refund']);
      assert.deepEqual(await administer('select * from workflow_terminations'), []);
    }
  }
});

test('the job of a failed task is stopped upstream, whoever failed it, and looked at only once', async () => {
  const taskId = await failedWithJob();
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
  assert.equal(upstream.jobs[0]?.state, 'cancelled');
  assert.deepEqual(
    (await listProviderJobs(database.db, taskId)).map(({ outcome }) => outcome),
    ['abandoned'],
  );
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 0, late: 0 });
});

test('a video that came after the refund is counted as late, and neither delivered nor charged', async () => {
  const taskId = await failedWithJob();
  upstream.finish();
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 0, late: 1 });
  assert.deepEqual(
    (await listProviderJobs(database.db, taskId)).map(({ outcome }) => outcome),
    ['late_success'],
  );
  assert.equal((await findTask(database.db, taskId))?.state, 'fail');
});

test('the job of a task that ended before the answer to its create came is found upstream, and stopped', async () => {
  const taskId = await failedWithJob({ isAnswered: false });
  const asked = await run(activities().settleProviderJobs);
  assert.deepEqual(
    asked,
    { stopped: 0, late: 0 },
    'the call may still be on its way, and make its job after the question',
  );
  await agedIntent(taskId);
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
  assert.equal(upstream.jobs[0]?.state, 'cancelled');
});

test('the job of a lost create is looked up by what was sent, also after the content of its task was deleted', async () => {
  const taskId = await failedWithJob({ isAnswered: false });
  const task = await findTask(database.db, taskId);
  assert.ok(task);
  await deleteTaskContent(database.db, task, []);
  await agedIntent(taskId);
  const prompts: string[] = [];
  const recover: PolledProvider['recover'] = async (lost, signal) => {
    prompts.push(lost.input.prompt);
    return await upstream.provider.recover(lost, signal);
  };
  const world = { ...deps(), providers: providersOf([{ ...upstream.provider, recover }]) };
  assert.deepEqual(await run(activities(world).settleProviderJobs), { stopped: 1, late: 0 });
  assert.deepEqual(prompts, [task.param.input.prompt]);
  const [job] = await listProviderJobs(database.db, taskId);
  assert.equal(job?.sentInput, undefined);
});

for (const dies of [false, true]) {
  test(`a job that is made after its task was settled, by a worker that was frozen, is stopped${dies ? ' by the next run' : ''}`, async () => {
    const task = await findTask(database.db, await accepted());
    assert.ok(task);
    const { taskId } = task;
    const world = deps();
    const frozen: PolledProvider = {
      ...upstream.provider,
      submit: async (...asked) => {
        await refundTask(database.db, taskId, failure('timeout'));
        await administer(`alter table tasks disable trigger final_tasks_never_change`);
        await administer(`update tasks set completed_at = completed_at - interval '1 hour' where id = '${taskId}'`);
        await administer(`alter table tasks enable trigger final_tasks_never_change`);
        await agedIntent(taskId);
        await run(activities().settleProviderJobs);
        return upstream.provider.submit(...asked);
      },
      cancel: (...asked) => (dies ? Promise.reject(new Killed()) : upstream.provider.cancel(...asked)),
    };
    const attempt = attemptAt({ ...world, providers: providersOf([frozen]) }, task, folder);
    const next = await nextJob(attempt.deps, task, []);
    assert.ok(next.kind === 'job');
    const submitting = submitJob(attempt, next.job);
    if (dies) await assert.rejects(submitting, Killed);
    else assert.equal((await submitting).kind, 'undecided');
    if (dies) assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
    assert.deepEqual(
      upstream.jobs.map(({ state }) => state),
      ['cancelled'],
    );
  });
}

for (const end of ['success', 'fail', undefined] as const) {
  test(`a worker that thaws and finds the job that another has brought to ${end ?? 'nothing yet'} leaves it so, and no second job is made`, async () => {
    const task = await findTask(database.db, await accepted());
    assert.ok(task);
    const { taskId } = task;
    const world = deps();
    const next = await nextJob(world, task, []);
    assert.ok(next.kind === 'job');
    const { job } = next;
    const earlier = attemptAt(world, task, folder);
    assert.equal(await commitIntent(earlier, job), undefined);
    const submitted = await upstream.provider.submit(requestFor(earlier, job), earlier.signal);
    assert.ok(submitted.kind === 'accepted');
    const { id: jobId } = submitted;
    const [row] = await listProviderJobs(database.db, taskId);
    assert.ok(row);
    const frozen: PolledProvider = {
      ...upstream.provider,
      recover: async () => {
        // While this worker stood still, another has found the job and gone on with it.
        await recordProviderJob(database.db, { taskId, ordinal: 1, jobId });
        if (end !== undefined) await endProviderJob(database.db, { taskId, ordinal: 1, outcome: end });
        return { kind: 'found', id: jobId };
      },
    };
    const attempt = attemptAt({ ...world, providers: providersOf([frozen]) }, task, folder);
    const { intendedAt, ageMs } = row;
    const found = await recoverJob(attempt, { ...job, state: 'unanswered', provider: frozen, intendedAt, ageMs });
    assert.ok(found.kind === 'job' && found.job.state === 'running');
    assert.equal(found.job.upstream.id, jobId);
    const jobs = await listProviderJobs(database.db, taskId);
    assert.deepEqual(
      jobs.map(({ outcome }) => outcome),
      [end],
    );
    assert.deepEqual(
      upstream.jobs.map(({ state }) => state),
      ['running'],
    );
  });
}

test('a job whose provider has left the catalogue is kept until the provider is back, and given up after a day', async () => {
  const world = { ...deps(), providers: providersOf([]) };
  await failedWithJob();
  assert.deepEqual(await run(activities(world).settleProviderJobs), { stopped: 0, late: 0 });
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
  assert.equal(upstream.jobs[0]?.state, 'cancelled');
  const old = await failedWithJob();
  await administer(`alter table tasks disable trigger final_tasks_never_change`);
  await administer(`update tasks set completed_at = completed_at - interval '25 hours' where id = '${old}'`);
  await administer(`alter table tasks enable trigger final_tasks_never_change`);
  assert.deepEqual(await run(activities(world).settleProviderJobs), { stopped: 1, late: 0 });
});

test('a job whose provider does not answer is asked about again in the next run', async () => {
  await failedWithJob();
  const world = deps();
  const deaf = { ...upstream.provider, status: () => Promise.reject(new Error('502')) };
  await run(activities({ ...world, providers: providersOf([deaf]) }).settleProviderJobs);
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 1, late: 0 });
});

/** Its attempt was begun so long ago, and is alive. The deadline of this catalogue is one minute. */
async function runsFor(taskId: string, seconds: number): Promise<void> {
  await administer(`update tasks set deadline_ms = 60000, attempt_started_at = now() - interval '${seconds} s',
    attempt_seen_at = now() where id = '${taskId}'`);
}

/** A task that failed a while ago, with a job of which nobody knows how it ended. */
async function failedWithJob({ isAnswered = true } = {}): Promise<string> {
  const taskId = await accepted(gone);
  const job = { taskId, ordinal: 1 };
  const provider = upstream.provider.name;
  const place = { ...job, accountId, provider, pool: `${provider}/model` };
  await reserveSlot(database.db, { ...place, limit: 100 });
  await intendReservedJob(database.db, { ...place, configHash: 'a'.repeat(64), config: '{}' });
  const submitted = await upstream.provider.submit(
    jobRequest({ taskId, jobKey: taskId }),
    new AbortController().signal,
  );
  assert.ok(submitted.kind === 'accepted');
  if (isAnswered) await recordProviderJob(database.db, { ...job, jobId: submitted.id });
  await refundTask(database.db, taskId, failure('terminated'));
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 0, late: 0 }, 'a moment ago is too early');
  await administer(`alter table tasks disable trigger final_tasks_never_change`);
  await administer(`update tasks set completed_at = now() - interval '31 s' where id = '${taskId}'`);
  await administer(`alter table tasks enable trigger final_tasks_never_change`);
  await endProviderJob(database.db, { ...job, outcome: 'abandoned', failure: failure('timeout') });
  return taskId;
}

/** Its worker has stood still, or been gone, for over a minute since. */
async function agedIntent(taskId: string): Promise<void> {
  await administer(`update provider_jobs set intended_at = intended_at - interval '61 s' where task_id = '${taskId}'`);
}

async function unfinished(): Promise<readonly string[]> {
  const rows = await administer(`select id from tasks where state not in ('success', 'fail')`);
  return rows.map((row) => (row as { id: string }).id); // the one column above
}

async function administer(statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

test('a task whose payloads cannot be read for want of a key is not refunded, however long it has failed', async () => {
  const message = 'payload cannot be read under the key "old": it is not among TEMPORAL_PAYLOAD_KEYS';
  const look = failing(60, 30);
  const taskId = await accepted({ ...look, codeFailure: look.codeFailure && { ...look.codeFailure, message } });
  const others = await accepted(failing(60, 30));
  await run(activities().settleTasks);
  assert.equal(await failCodeOf(taskId), undefined);
  assert.equal(await failCodeOf(others), 'internal');
});
