import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import {
  cancelOwnTask,
  cancelTaskAs,
  cancelTaskIfUnstarted,
  finishCancellation,
  type TaskToStop,
} from '../../../src/tasks/end/cancel-task.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask, beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { shell } from '../../support/service/person.ts';
import { madeUpResult } from '../../support/tasks/tasks.ts';

let service: HttpService;
let account: { accountId: string; key: string };
const events = recordEvents('task_ended');
before(async () => {
  service = await startHttpService({ events });
  account = await service.newAccount(10_000);
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const cancel = (body: unknown, key = account.key) =>
  service.send('POST', '/api/v1/jobs/cancelTask', {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const created = async (extra: object = {}) =>
  String((await service.create(account.key, { ...plainRequest, ...extra })).json.data['taskId']);
const balance = async () => (await findAccount(service.database.db, account.accountId))?.balance;
const stopped = (taskId: string) => service.stopped.filter((task) => task.taskId === taskId);

test('200 a waiting task without a workflow is refunded at once, and repeated requests get the same answer', async () => {
  const earlier = await balance();
  const taskId = await created();
  const first = await cancel({ taskId });
  assert.equal(first.status, 200);
  assert.deepEqual(first.json.data, {
    taskId,
    cancelled: true,
    state: 'fail',
    failCode: 'cancelled',
    creditsRefunded: 165,
  });
  assert.equal(await balance(), earlier);
  assert.deepEqual((await cancel({ taskId })).bytes, first.bytes);
  assert.deepEqual(events.seen, [{ kind: 'task_ended', task: await findTask(service.database.db, taskId) }]);
  const record = (await service.recordInfo(account.key, taskId)).json.data;
  assert.deepEqual([record['state'], record['failCode'], record['creditsRefunded']], ['fail', 'cancelled', 165]);
  assert.deepEqual(stopped(taskId), [{ taskId, accountId: account.accountId, hasCallback: false, hasEvent: false }]);
});

test('200 a generating task is refunded, stopped, and its callback is told of', async () => {
  const taskId = await created({ callBackUrl: 'http://receiver.test/' });
  await beginGenerationAttempt(service.database.db, taskId);
  assert.equal((await cancel({ taskId })).json.data['cancelled'], true);
  assert.deepEqual(stopped(taskId), [{ taskId, accountId: account.accountId, hasCallback: true, hasEvent: false }]);
});

test('200 twenty requests at once are one refund', async () => {
  const earlier = await balance();
  const taskId = await created();
  const answers = await Promise.all(Array.from({ length: 20 }, () => cancel({ taskId })));
  assert.deepEqual(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1);
  assert.equal(await balance(), earlier);
});

test('200 a task that has succeeded is not changed, and the answer says so', async () => {
  const taskId = await created();
  await completeTask(service.database.db, taskId, madeUpResult);
  const earlier = await balance();
  const { data } = (await cancel({ taskId })).json;
  assert.deepEqual(data, { taskId, cancelled: false, state: 'success', failCode: null, creditsRefunded: 0 });
  assert.equal(await balance(), earlier);
  assert.deepEqual(stopped(taskId), []);
});

test('200 a task that has failed keeps its reason', async () => {
  const taskId = await created();
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'Too late.' });
  const { data } = (await cancel({ taskId })).json;
  assert.deepEqual(data, { taskId, cancelled: false, state: 'fail', failCode: 'timeout', creditsRefunded: 165 });
});

test('401 without a key, 403 with a key that may only read', async () => {
  const reader = await service.newAccount(0, ['tasks:read']);
  const taskId = await created();
  assertRefused(await cancel({ taskId }, 'none'), 401, /API key/);
  assertRefused(await cancel({ taskId }, reader.key), 403, /tasks:write/);
  assert.equal((await service.recordInfo(account.key, taskId)).json.data['state'], 'waiting');
});

test('404 another account’s task, an unknown one and what is no id get the very same answer, and nothing changes', async () => {
  const taskId = await created();
  const other = await service.newAccount(0);
  const answers = [
    await cancel({ taskId }, other.key),
    await cancel({ taskId: '01900000-0000-7000-8000-000000000000' }, other.key),
    await cancel({ taskId: 'no id' }, other.key),
  ];
  for (const answer of answers) assertRefused(answer, 404, /^task not found$/);
  assert.equal((await service.recordInfo(account.key, taskId)).json.data['state'], 'waiting');
});

test('422 names what is missing or too much; 400 for what is no JSON', async () => {
  assert.match((await cancel({})).json.msg, /^taskId: is required/);
  assert.match((await cancel({ taskId: 7 })).json.msg, /^taskId: /);
  assert.equal((await cancel({ taskId: 'x', force: true })).status, 422);
  assertRefused(await cancel('{'), 400, /JSON/);
});

test('an operator cancels the task of any account, once, with an entry in the audit log and its reason', async () => {
  const { db } = service.database;
  const taskId = await created({ callBackUrl: 'http://receiver.test/' });
  const order = { taskId, reason: 'a complaint' };
  const ended = await cancelTaskAs(db, shell, order);
  const task = await findTask(db, taskId);
  assert.deepEqual(ended, { task, hasCallback: true, hasEvent: false, changed: true });
  assert.deepEqual([task?.failure?.failCode, task?.creditsRefunded], ['cancelled', 165]);
  const [entry] = await listOperatorActions(db, { limit: 1 });
  const { action, accountId, details, actor } = entry ?? assert.fail();
  assert.deepEqual(
    { action, accountId, taskId: entry?.taskId, details, actor },
    {
      action: 'tasks.cancel',
      accountId: account.accountId,
      taskId,
      details: { reason: 'a complaint', creditsRefunded: 165 },
      actor: shell,
    },
  );
  assert.deepEqual(await terminationsOf(taskId), [{ ms: 600_000 }]);
  assert.deepEqual(await cancelTaskAs(db, shell, order), { ...ended, changed: false });
  assert.deepEqual(await listOperatorActions(db, { limit: 1 }), [entry]);
  await assert.rejects(cancelTaskAs(db, shell, { ...order, taskId: account.accountId }), /not found/);
});

/** The times at which the workflow of a task is to be terminated, from the end of the task on. */
function terminationsOf(taskId: string) {
  const text = `
select (extract(epoch from due_at - completed_at) * 1000)::float8 as ms
from workflow_terminations join tasks on id = task_id where task_id = $1`;
  return service.database.db.run({ name: 'test-terminations', text }, [taskId]);
}

test('a cancellation of an unstarted task leaves one whose video an upstream may make', async () => {
  const { db } = service.database;
  const deps = {
    ...service.deps,
    db,
    events: recordEvents('task_ended'),
    stopTask: (task: TaskToStop) => stops.push(task),
  };
  const stops: TaskToStop[] = [];
  const [generating, waiting] = [await created(), await created()];
  await beginGenerationAttempt(db, generating);
  for (const taskId of [generating, waiting, waiting]) await cancelTaskIfUnstarted(deps, taskId);
  assert.equal((await findTask(db, generating))?.state, 'generating');
  const task = await findTask(db, waiting);
  assert.deepEqual([task?.failure?.failCode, task?.creditsRefunded], ['cancelled', 165]);
  assert.deepEqual(stops, [{ taskId: waiting, accountId: account.accountId, hasCallback: false, hasEvent: false }]);
  assert.deepEqual(deps.events.seen, [{ kind: 'task_ended', task }]);
  assert.deepEqual([await terminationsOf(generating), await terminationsOf(waiting)], [[], [{ ms: 600_000 }]]);
  await cancelOwnTask(deps, generating);
  assert.deepEqual(await terminationsOf(generating), [{ ms: 600_000 }]);
});

test('a cancellation of a task that has not ended cannot be answered', async () => {
  const task = (await findTask(service.database.db, await created())) ?? assert.fail();
  const stopTask = () => assert.fail('nothing has ended');
  const ended = { task, hasCallback: false, hasEvent: false, changed: true };
  assert.throws(() => finishCancellation({ stopTask, events }, ended), /has not ended/);
});
