import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineGraceMs } from '../../../activities/maintenance/reconcile-tasks.ts';
import { maxQueueMs } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import type { WorkflowDescription } from '../../../src/catalogue/tasks/workflow-engine.ts';
import type { FailCode } from '../../../src/catalogue/tasks/task.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import {
  countTasksWithFailingWorkflow,
  type UnfinishedTask,
} from '../../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { cancelGraceMs, completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask, beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { recordLog } from '../../support/log-lines.ts';
import { madeUpResult } from '../../support/tasks/tasks.ts';
import { catalogueAt } from '../../support/service/worker-parts.ts';
import {
  accepted,
  activities,
  calls,
  database,
  events,
  execute,
  failCodeOf,
  failing,
  failure,
  prepareReconciles,
  run,
  running,
  terminated,
  workflows,
  worldOf,
} from './reconcile-stage.ts';

prepareReconciles();

test('a task that waits behind others for 23 hours is not refunded', async () => {
  const taskId = await accepted(running);
  await execute(`update tasks set created_at = now() - interval '23 hours' where id = '${taskId}'`);
  assert.equal((await run(activities().reconcileTasks)).refunded, 0);
});

for (const [what, workflow, failCode] of [
  ['was deleted', { ...terminated, status: 'missing' }, 'terminated'],
  ['was terminated', terminated, 'terminated'],
  ['was cancelled', { ...terminated, status: 'cancelled' }, 'cancelled'],
  ['failed', { ...terminated, status: 'failed' }, 'internal'],
  ['timed out', { ...terminated, status: 'timed_out' }, 'timeout'],
  ['completed without ending its task', { ...terminated, status: 'completed' }, 'internal'],
  ['is stuck in its code', failing(12, 1), 'internal'],
] satisfies [string, WorkflowDescription, FailCode][]) {
  test(`the task of a workflow that ${what} is refunded as ${failCode} and called back`, async () => {
    const taskId = await accepted(workflow, 'http://receiver.test/');
    const { log, lines } = recordLog();
    assert.equal((await run(activities({ ...worldOf(), log }).reconcileTasks)).refunded, 1);
    const { codeFailure, ...described } = workflow;
    const stuckMsg = 'workflow code failed; roll back the release, or the task is refunded';
    const refunded = { ...described, ...(codeFailure && { codeFailure }), failCode, msg: 'task refunded by reconcile' };
    assert.deepEqual(lines, [
      ...(codeFailure === undefined ? [] : [{ level: 50, taskId, ...codeFailure, msg: stuckMsg }]),
      { level: 40, taskId, ...refunded },
    ]);
    assert.equal(await failCodeOf(taskId), failCode);
    const ends = workflow.status === 'running' ? [`terminate ${taskId}`] : [];
    assert.deepEqual(calls, [`deliver ${taskId}`, ...ends]);
    const left = { kind: 'reconcile_finding', finding: 'workflow_left' };
    assert.deepEqual(events.seen, [
      { kind: 'task_ended', task: await findTask(database.db, taskId) },
      { kind: 'task_reconciled', outcome: 'refunded' },
      ...(workflow.status === 'running' ? [left] : []),
    ]);
  });
}

// Functions, because their times count from the test.
for (const [what, workflow] of [
  ['has failed for nine minutes', () => failing(9, 1)],
  ['failed long ago and was not retried since the limit, because attempts are minutes apart', () => failing(14, 5)],
  ['failed long ago and is being retried', () => failing(20, -1)],
  ['failed long ago and waits for a worker', () => failing(20, undefined)],
] satisfies [string, () => WorkflowDescription][]) {
  test(`a task whose code ${what} is counted as stuck and not refunded`, async () => {
    const taskId = await accepted(workflow());
    assert.equal((await run(activities().reconcileTasks)).refunded, 0);
    assert.deepEqual(
      [await failCodeOf(taskId), calls, (await countTasksWithFailingWorkflow(database.db)).tasks],
      [undefined, [], 1],
    );
  });
}

test('a task whose code continues is no longer counted as stuck', async () => {
  const taskId = await accepted(failing(5, 1));
  await run(activities().reconcileTasks);
  assert.equal((await countTasksWithFailingWorkflow(database.db)).tasks, 1);
  workflows.set(taskId, running);
  const { log, lines } = recordLog();
  for (const _time of [1, 2]) await run(activities({ ...worldOf(), log }).reconcileTasks);
  assert.equal((await countTasksWithFailingWorkflow(database.db)).tasks, 0);
  assert.deepEqual(lines, [{ level: 30, taskId, msg: 'workflow code recovered' }], 'once');
});

test('a refunded task is no longer counted as stuck', async () => {
  await accepted(failing(12, 1));
  await run(activities().reconcileTasks);
  assert.equal((await countTasksWithFailingWorkflow(database.db)).tasks, 0);
});

test('the refund with its true reason precedes the termination, which is retried until Temporal responds', async () => {
  const taskId = await accepted(failing(12, 1));
  const world = worldOf();
  let failCode: FailCode | undefined;
  const terminateTask = async (id: string) => {
    failCode = await failCodeOf(id);
    throw new Error('Temporal is unavailable');
  };
  await run(activities({ ...world, engine: { ...world.engine, terminateTask } }).reconcileTasks);
  assert.deepEqual([failCode, await failCodeOf(taskId), calls], ['internal', 'internal', []]);
  workflows.set(taskId, { ...running, status: 'terminated' });
  await run(activities().reconcileTasks);
  assert.deepEqual([calls, await failCodeOf(taskId)], [[`terminate ${taskId}`], 'internal']);
  await run(activities().reconcileTasks);
  assert.deepEqual(calls, [`terminate ${taskId}`], 'it is terminated once');
});

test('a workflow that still runs ten minutes after the cancellation of its task is terminated', async () => {
  const taskId = await accepted(running);
  await failAndRefund(database.db, taskId, failure('cancelled'), { terminatesAfterMs: cancelGraceMs });
  await run(activities().reconcileTasks);
  assert.deepEqual(calls, []);
  await execute(`update workflow_terminations set due_at = due_at - interval '10 minutes'`);
  await run(activities().reconcileTasks);
  assert.deepEqual(calls, [`terminate ${taskId}`]);
});

test('a task that ends while it is described stays as it ended, and is not counted', async () => {
  const taskId = await accepted(terminated, 'http://receiver.test/');
  const world = worldOf();
  const describeTask = async (id: string) => {
    await completeTask(database.db, id, madeUpResult);
    return world.engine.describeTask(id);
  };
  const counts = await run(activities({ ...world, engine: { ...world.engine, describeTask } }).reconcileTasks);
  assert.deepEqual([counts.refunded, calls, await failCodeOf(taskId)], [0, [], undefined]);
});

test('a generation two minutes past its deadline is refunded, one that stores its video is not', async () => {
  const storing: WorkflowDescription = { ...running, pendingActivities: ['storeResult'] };
  const [late, early, isStoring] = [await accepted(running), await accepted(running), await accepted(storing)];
  for (const taskId of [late, early, isStoring]) await beginGenerationAttempt(database.db, taskId);
  await Promise.all([runsFor(late, 185), runsFor(early, 175), runsFor(isStoring, 185)]);
  assert.equal((await run(activities().reconcileTasks)).refunded, 1);
  assert.deepEqual([await failCodeOf(late), calls], ['timeout', [`terminate ${late}`]]);
});

test('an interrupted generation that waits in the queue is not refunded, however long ago it began', async () => {
  const taskId = await accepted(running);
  await beginGenerationAttempt(database.db, taskId);
  await runsFor(taskId, 50);
  await execute(`update tasks set created_at = now() - interval '23 hours',
    generation_started_at = now() - interval '23 hours', attempt_started_at = attempt_started_at - interval '22 hours',
    attempt_seen_at = attempt_seen_at - interval '22 hours' where id = '${taskId}'`);
  assert.equal((await run(activities().reconcileTasks)).refunded, 0);
});

test('a task that has waited for a day in total is refunded, in the queue or while its video is stored', async () => {
  const [queued, isStoring] = [
    await accepted(running),
    await accepted({ ...running, pendingActivities: ['storeResult'] }),
  ];
  await beginGenerationAttempt(database.db, isStoring);
  await runsFor(isStoring, 50);
  await execute(`update tasks set created_at = now() - interval '1445 minutes',
    attempt_started_at = attempt_started_at - interval '10 minutes',
    attempt_seen_at = attempt_seen_at - interval '10 minutes' where state in ('queuing', 'generating')`);
  assert.equal((await run(activities().reconcileTasks)).refunded, 2);
  assert.deepEqual([await failCodeOf(queued), await failCodeOf(isStoring)], ['timeout', 'timeout']);
});

test('after a day without Temporal a waiting task is refunded, not started, and a generation continues', async () => {
  const [waiting, generating] = [await accepted(), await accepted(running)];
  await beginGenerationAttempt(database.db, generating);
  await execute(
    `update tasks set created_at = now() - interval '1500 minutes' where state in ('waiting', 'generating')`,
  );
  workflows.set(waiting, { status: 'missing', codeFailure: undefined, pendingActivities: [] });
  assert.deepEqual(await run(activities().reconcileTasks), { started: 0, refunded: 1, failed: 0 });
  assert.deepEqual([await failCodeOf(waiting), await failCodeOf(generating)], ['timeout', undefined]);
  assert.deepEqual(calls, []);
});

test('a task without a workflow is started, and counted as started', async () => {
  await accepted();
  await run(activities().reconcileTasks);
  assert.deepEqual(events.seen, [{ kind: 'task_reconciled', outcome: 'started' }]);
});

test('the deadline of a task is that of its acceptance, not that of the current catalogue', async () => {
  const taskId = await accepted(running);
  await beginGenerationAttempt(database.db, taskId);
  await runsFor(taskId, 185);
  await execute(`update tasks set deadline_ms = 3600000 where id = '${taskId}'`);
  const world = worldOf();
  for (const catalogue of [world.catalogue, catalogueAt(new Map())]) {
    assert.equal((await run(activities({ ...world, catalogue }).reconcileTasks)).refunded, 0);
  }
});

test('a task whose payload key is missing is not refunded, however long it has failed', async () => {
  const message = 'payload cannot be read under the key "old": it is not among TEMPORAL_PAYLOAD_KEYS';
  const { codeFailure } = failing(60, 30);
  const missing = { ...(codeFailure ?? assert.fail()), message };
  const taskId = await accepted({ ...running, codeFailure: missing });
  const others = await accepted(failing(60, 30));
  const { log, lines } = recordLog();
  await run(activities({ ...worldOf(), log }).reconcileTasks);
  const msg = 'payload key missing; add it to TEMPORAL_PAYLOAD_KEYS, tasks wait for it';
  assert.deepEqual(
    lines.filter((line) => line['taskId'] === taskId),
    [{ level: 50, taskId, ...missing, msg }],
  );
  assert.equal(await failCodeOf(taskId), undefined);
  assert.equal(await failCodeOf(others), 'internal');
});

const [deadlineMs, stuckTaskMs, stepMs] = [60_000, 600_000, 15_000];
const graceMs = deadlineGraceMs;
const codeFailed = (sinceMs: number, retriedMs: number): WorkflowDescription => {
  const [since, retriedAt] = [Date.now() - sinceMs, Date.now() - retriedMs];
  return { ...running, pendingActivities: [], codeFailure: { since, retriedAt, message: 'x is not a function' } };
};
for (const [what, row, workflow, failCode] of [
  ['a wait at its limit', { ageMs: maxQueueMs + graceMs + 7, ranMs: 7 }, () => running, undefined],
  ['a wait beyond its limit', { ageMs: maxQueueMs + graceMs + 8, ranMs: 7 }, () => running, 'timeout'],
  [
    'a long wait that has ended in a generation',
    { ageMs: maxQueueMs + graceMs + 8, ranMs: 7, isGenerating: true },
    () => running,
    undefined,
  ],
  ['a run at its deadline', { ranMs: deadlineMs + graceMs }, () => running, undefined],
  ['a run beyond its deadline', { ranMs: deadlineMs + graceMs + 1 }, () => running, 'timeout'],
  ['a fetch at its limit', { ranMs: 2 * deadlineMs + graceMs, isFetching: true }, () => running, undefined],
  ['a fetch beyond its limit', { ranMs: 2 * deadlineMs + graceMs + 1, isFetching: true }, () => running, 'timeout'],
  ['code that failed for as long as it may', {}, () => codeFailed(stuckTaskMs + stepMs, stepMs), 'internal'],
  ['code that failed for less', {}, () => codeFailed(stuckTaskMs + stepMs - 1, stepMs), undefined],
  ['code that was just retried', {}, () => codeFailed(stuckTaskMs + stepMs, stepMs - 1), undefined],
] satisfies [string, Partial<UnfinishedTask>, () => WorkflowDescription, FailCode | undefined][]) {
  test(`${what} is ${failCode === undefined ? 'left' : `refunded as ${failCode}`}`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const taskId = await accepted(workflow());
    const times = { ageMs: 20_000, ranMs: 0, deadlineMs, isGenerating: false, isFetching: false, ...row };
    const read: Database['run'] = async (statement, values) => {
      const rows = await database.db.run(statement, values);
      // The rows have the fields of the list, at the limits.
      return (statement.name === 'list-unfinished-tasks' ? rows.map((one) => ({ ...one, ...times })) : rows) as never;
    };
    const world = { ...worldOf(), db: { ...database.db, run: read } };
    await run(activities(world).reconcileTasks);
    assert.equal(await failCodeOf(taskId), failCode);
  });
}

/** Begins the attempt so many seconds ago, with a deadline of one minute. */
async function runsFor(taskId: string, seconds: number): Promise<void> {
  await execute(`update tasks set deadline_ms = 60000, attempt_started_at = now() - interval '${seconds} s',
    attempt_seen_at = now() where id = '${taskId}'`);
}
