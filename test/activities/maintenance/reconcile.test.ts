import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowDescription } from '../../../src/catalogue/tasks/workflow-engine.ts';
import type { FailCode } from '../../../src/catalogue/tasks/task.ts';
import { closeAccountAs, finishClosure } from '../../../src/tasks/end/close-account-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { listTaskEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { interruptedParts, Killed } from '../../support/processes/dying-worker-parts.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import {
  accepted,
  accountId,
  activities,
  calls,
  database,
  execute,
  failCodeOf,
  failing,
  prepareReconciles,
  run,
  terminated,
  workflows,
  worldOf,
} from './reconcile-stage.ts';

prepareReconciles();

test('tasks without a workflow are started in order of arrival, except those of the last seconds', async () => {
  const taskIds: string[] = [];
  for (let index = 0; index < 250; index += 1) {
    taskIds.push(await acceptTestTask(database.db, accountId, taskParam('waiting')));
  }
  await execute(`update tasks set created_at = created_at + interval '1 hour' where state = 'waiting'`);
  assert.equal((await run(activities().reconcileTasks)).started, 0);
  await execute(`update tasks set created_at = created_at - interval '1 hour 11 s' where state = 'waiting'`);
  const counts = await run(activities().reconcileTasks);
  assert.deepEqual(counts, { started: 250, refunded: 0, failed: 0 });
  assert.deepEqual(
    calls,
    taskIds.map((taskId) => `start ${taskId}`),
  );
});

test('a run that dies in the middle of many tasks is continued by the next one, so that younger tasks are not starved', async () => {
  const taskIds: string[] = [];
  for (let index = 0; index < 250; index += 1)
    taskIds.push(await acceptTestTask(database.db, accountId, taskParam('waiting')));
  await execute(`update tasks set created_at = created_at - interval '11 s' where state = 'waiting'`);
  const dead = new AbortController();
  const world = worldOf();
  const startTask: typeof world.engine.startTask = async (task) => {
    if (calls.length === 220) dead.abort(new Killed());
    return world.engine.startTask(task);
  };
  const dying = interruptedParts({ ...world, engine: { ...world.engine, startTask } }, undefined, dead);
  await assert.rejects(run(activities(dying.parts).reconcileTasks), Killed);
  calls.length = 0;
  await run(activities().reconcileTasks);
  assert.deepEqual(
    calls,
    taskIds.slice(200).map((taskId) => `start ${taskId}`),
    'the next run begins with the unfinished page',
  );
  calls.length = 0;
  await run(activities().reconcileTasks);
  assert.equal(calls.length, 250, 'a complete run begins at the first task');
});

test('the workflow of each closing account is started until the account is empty, also if another start fails', async () => {
  const actor = { kind: 'command_line', name: 'ada' } as const;
  const closing = [];
  for (let index = 0; index < 3; index += 1) {
    const closed = await createAccount(database.db, { name: 'closed', credits: 0 });
    await closeAccountAs(database.db, actor, { accountId: closed, reason: 'requested' });
    closing.push(closed);
  }
  const [first = '', ...others] = closing;
  const world = worldOf();
  const startClosing: typeof world.engine.startClosing = (closed) =>
    closed === first ? Promise.reject(new Error('no')) : world.engine.startClosing(closed);
  await run(activities({ ...world, engine: { ...world.engine, startClosing } }).startClosings);
  assert.deepEqual(calls.toSorted(), others.map((closed) => `close ${closed}`).toSorted());
  for (const closed of others) assert.equal((await finishClosure(database.db, closed)).outcome, 'finished');
  calls.length = 0;
  await run(activities().startClosings);
  assert.deepEqual(calls, [`close ${first}`]);
});

test('a task that cannot be described blocks no other', async () => {
  const good = await accepted(terminated);
  const bad = await accepted(new Error('describe failed'));
  const alsoGood = await accepted(terminated);
  assert.deepEqual(await run(activities().reconcileTasks), { started: 0, refunded: 2, failed: 1 });
  assert.deepEqual(
    [await failCodeOf(good), await failCodeOf(bad), await failCodeOf(alsoGood)],
    ['terminated', undefined, 'terminated'],
  );
});

for (const [what, workflow, failCode] of [
  ['an ended workflow', () => terminated, 'terminated'],
  ['a stuck workflow', () => failing(12, 1), 'internal'],
] satisfies [string, () => WorkflowDescription, FailCode][]) {
  test(`a run that dies anywhere at ${what} is completed by the next one: its reason, one refund, one callback, and no workflow left`, async () => {
    for (let call = 0, hasDied = true; hasDied; call += 1) {
      for (const when of ['before', 'after'] as const) {
        const taskId = await accepted(workflow(), 'http://receiver.test/');
        const dying = interruptedParts(worldOf(), { call, when });
        await run(activities(dying.parts).reconcileTasks).catch((error: unknown) => assert.ok(error instanceof Killed));
        hasDied = dying.calls.length > call;
        if (calls.includes(`terminate ${taskId}`)) workflows.set(taskId, terminated);
        await run(activities().reconcileTasks);
        assert.equal(await failCodeOf(taskId), failCode);
        assert.equal(calls.includes(`terminate ${taskId}`), failCode === 'internal');
        const kinds = (await listTaskEntries(database.db, taskId)).map(({ kind }) => kind);
        assert.deepEqual(kinds, ['charge', 'refund']);
        const owed = `select count(*)::int as owed from callback_deliveries where task_id = '${taskId}'`;
        assert.deepEqual(await execute(owed), [{ owed: 1 }]);
        assert.deepEqual(await execute('select * from workflow_terminations'), []);
      }
    }
  });
}
