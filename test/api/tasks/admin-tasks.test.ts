import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { findDelivery, recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { intendOwnMachineJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { owedCallback } from '../../support/tasks/owed-callback.ts';
import { madeUpMeasures } from '../../support/tasks/tasks.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const admin = '/api/admin/v1';
const newTask = async (key: string, extra: object = {}) =>
  String((await service.create(key, { ...plainRequest, ...extra })).json.data['taskId']);
const cancel = (taskId: string) => operator.ask('POST', `${admin}/tasks/cancel`, { body: { taskId, reason: 'abuse' } });

const succeed = (taskId: string) => {
  const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
  return completeTask(service.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey });
};

type ListedTask = {
  taskId: string;
  operator?: { accountId: string };
  createdBy?: { kind: string; name: string };
  posterUrl?: string | null;
  contentDeleteTime?: number | null;
};
type Page = {
  readonly tasks: readonly ListedTask[];
  readonly nextCursor: string | null;
};

type Detail = {
  readonly task: { readonly state: string; readonly resultJson: { readonly resultUrls: readonly string[] } };
  readonly ledger: readonly { readonly amount: number }[];
  readonly callback: Readonly<Record<string, unknown>>;
  readonly operator: {
    readonly accountId: string;
    readonly files: { readonly sha256: string } | null;
    readonly providerJobs: readonly { readonly jobId: string }[];
    readonly differences: readonly object[];
  };
};

async function walk(query: Record<string, string>): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = { limit: '2', ...query, ...(cursor !== undefined && { cursor }) };
    // The service holds its answers against the schema of the endpoint.
    const { tasks, nextCursor } = (await dataOf(operator.ask('GET', `${admin}/tasks`, { query: page }))) as Page;
    ids.push(...tasks.map(({ taskId }) => taskId));
    cursor = nextCursor;
  }
  return ids;
}

test('200 tasks of all accounts, newest first, each with its account and as recordInfo shows it', async () => {
  const [one, two] = [await service.newAccount(10_000), await service.newAccount(10_000)];
  const from = String(Date.now());
  const ids = [await newTask(one.key), await newTask(two.key), await newTask(one.key), await newTask(two.key)];
  await succeed(String(ids[0]));
  await cancel(String(ids[1]));
  await beginGenerationAttempt(service.database.db, String(ids[2]));
  assert.deepEqual(await walk({ from }), ids.toReversed());
  assert.deepEqual(await walk({ accountId: one.accountId }), [ids[2], ids[0]]);
  for (const [state, id] of [
    ['success', ids[0]],
    ['fail', ids[1]],
    ['generating', ids[2]],
    ['waiting', ids[3]],
  ] as const) {
    assert.ok((await walk({ from, state })).includes(String(id)), state);
    assert.equal((await walk({ from, state })).length, 1, state);
  }
  assert.deepEqual(await walk({ accountId: one.accountId, state: 'fail' }), []);
  assert.deepEqual(await walk({ accountId: randomUUID() }), []);
  assert.deepEqual(await walk({ from: String(Date.now() + 3_600_000) }), []);
  const { tasks } = (await dataOf(
    operator.ask('GET', `${admin}/tasks`, { query: { accountId: one.accountId } }),
  )) as Page;
  const { operator: part, createdBy, posterUrl, contentDeleteTime, ...record } = tasks[0] ?? {};
  assert.deepEqual(part, { accountId: one.accountId, accountName: 'test' });
  assert.deepEqual(record, (await service.recordInfo(one.key, String(ids[2]))).json.data);
  assert.deepEqual([createdBy?.kind, createdBy?.name, posterUrl, contentDeleteTime], ['key', 'test', null, null]);
});

test('200 only tasks of a model, of a fail code, or with a job at a provider', async () => {
  const { db } = service.database;
  const { accountId, key } = await service.newAccount(10_000);
  const from = String(Date.now());
  const [plain, other] = [await newTask(key), await newTask(key, { model: 'videogen-2.0' })];
  await intendOwnMachineJob(db, { taskId: other, ordinal: 1, provider: 'somewhere' });
  await cancel(plain);
  assert.deepEqual(await walk({ from, model: 'videogen-2.0' }), [other]);
  assert.deepEqual(await walk({ accountId, model: 'videogen-2.0' }), [other]);
  assert.deepEqual(await walk({ from, provider: 'somewhere' }), [other]);
  const later = String(Date.now() + 3_600_000);
  assert.deepEqual(await walk({ from: later, provider: 'somewhere' }), [], 'from a time within the week');
  assert.deepEqual(await walk({ from, failCode: 'cancelled' }), [plain]);
  for (const search of [plain, plain.slice(-8)]) assert.deepEqual(await walk({ search }), [plain]);
  assert.deepEqual(await walk({ search: 'lighthouse', accountId }), [other, plain]);
  assert.deepEqual(await walk({ search: 'lighthouse' }), [], 'words are searched within an account only');
  const eightDaysLater = String(Date.now() + 8 * 86_400_000);
  assert.deepEqual(await walk({ to: eightDaysLater, provider: 'somewhere' }), [], 'a week is searched');
  assert.deepEqual(await walk({ to: eightDaysLater, provider: 'somewhere', accountId }), [other]);
});

for (const query of [
  { failCode: 'none' },
  { search: 'x'.repeat(201) },
  { model: 'm'.repeat(101) },
  { provider: 'p'.repeat(101) },
]) {
  test(`422 a list by ${Object.keys(query).join()}`, async () => {
    const { status, json } = await operator.ask('GET', `${admin}/tasks`, { query });
    assert.deepEqual([status, json.error], [422, 'invalid_request']);
  });
}

test('200 everything that is known of a task: its books, its jobs, and what the receiver of its callback said', async () => {
  const { db } = service.database;
  const { accountId } = await service.newAccount(1_000);
  const { taskId } = await owedCallback(db, accountId, 'http://receiver.test/hook?secret=1', 'success', (id) =>
    intendOwnMachineJob(db, { taskId: id, ordinal: 1, provider: 'preview' }),
  );
  await recordCreatedJob(db, { taskId, ordinal: 1, jobId: 'job-1' });
  const delivery = await findDelivery(db, taskId);
  assert.ok(delivery);
  const attempts = [
    {
      startedAt: 1_000,
      durationMs: 12,
      status: 500,
      error: undefined,
      responseHead: Buffer.from('oh no \xff', 'latin1'),
    },
    { startedAt: 2_000, durationMs: 34, status: undefined, error: 'blocked', responseHead: undefined },
  ];
  for (const attempt of attempts)
    await recordDeliveryAttempt(db, { delivery, attempt, newState: { state: 'pending', dueAt: 3_000 } });
  // The service holds its answers against the schema of the endpoint.
  const detail = (await dataOf(operator.ask('GET', `${admin}/tasks/show`, { query: { taskId } }))) as Detail;
  const { task, ledger, callback, operator: part } = detail;
  assert.equal(part.accountId, accountId);
  assert.equal(task.state, 'success');
  assert.equal(task.resultJson.resultUrls.length, 1);
  assert.equal(part.files?.sha256, 'f'.repeat(64));
  assert.deepEqual(
    ledger.map(({ amount }) => amount),
    [-132],
  );
  assert.equal(part.providerJobs[0]?.jobId, 'job-1');
  const { attempts: shown, url, state, nextAttemptTime, operator: delivered } = callback;
  assert.deepEqual(shown, [
    {
      attempt: 2,
      startTime: 2_000,
      status: null,
      durationMs: 34,
      error: 'unreachable',
      operator: { networkError: 'blocked', responseHead: null },
    },
    {
      attempt: 1,
      startTime: 1_000,
      status: 500,
      durationMs: 12,
      error: null,
      operator: { networkError: null, responseHead: 'oh no \ufffd' },
    },
  ]);
  assert.deepEqual([url, state, nextAttemptTime], ['http://receiver.test/hook?secret=1', 'pending', 3_000]);
  assert.deepEqual(delivered, { accountId, accountName: 'test', redeliveries: 0 });
});

test('200 operators alone read how a video differs from its order', async () => {
  const { key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  await succeed(taskId);
  const { operator: part } = (await dataOf(
    operator.ask('GET', `${admin}/tasks/show`, { query: { taskId } }),
  )) as Detail;
  assert.deepEqual(part.differences, [{ aspect: 'seconds', kind: 'short', ordered: '5 s', delivered: '4.0 s' }]);
  const own = await dataOf(askWith(service, key)('GET', '/api/v1/jobs/timeline', { query: { taskId } }));
  assert.equal(own['operator'], undefined);
});

test('200 the account sees the same task and callback without what only operators see', async () => {
  const { db } = service.database;
  const { accountId, key } = await service.newAccount(1_000);
  const { taskId } = await owedCallback(db, accountId, 'http://receiver.test/', 'success', (id) =>
    intendOwnMachineJob(db, { taskId: id, ordinal: 1, provider: 'secret-upstream' }),
  );
  await recordCreatedJob(db, { taskId, ordinal: 1, jobId: 'secret-job' });
  const attempt = { durationMs: 12, status: undefined, error: 'secret-kind', responseHead: Buffer.from('secret-head') };
  await recordDeliveryAttempt(db, {
    delivery: { deliveryId: taskId, redeliveries: 0 },
    attempt: { ...attempt, startedAt: 1_000 },
    newState: { state: 'pending', dueAt: 3_000 },
  });
  const shown = await dataOf(operator.ask('GET', `${admin}/tasks/show`, { query: { taskId } }));
  assert.match(JSON.stringify(shown), /secret-upstream.*secret-kind|secret-kind.*secret-upstream/s);
  const ask = askWith(service, key);
  const own = await dataOf(ask('GET', '/api/v1/jobs/timeline', { query: { taskId } }));
  const answers = [
    own,
    await dataOf(ask('GET', '/api/v1/jobs/listTasks')),
    await dataOf(ask('GET', '/api/v1/callbacks')),
    await dataOf(ask('GET', '/api/v1/callbacks', { query: { taskId } })),
  ];
  for (const answer of answers) assert.doesNotMatch(JSON.stringify(answer), /secret-|"operator"|sha256|Key"/);
  const { operator: _part, ...common } = shown;
  assert.deepEqual(Object.keys(own), Object.keys(common), 'the operators’ view is the account’s with one part more');
});

test('200 a task of any account is cancelled: refunded once, stopped, and its callback sent', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = await newTask(key, { callBackUrl: 'http://receiver.test/' });
  const answers = await Promise.all([cancel(taskId), cancel(taskId), cancel(taskId)]);
  for (const { json } of answers) {
    assert.deepEqual(json.data, {
      taskId,
      cancelled: true,
      state: 'fail',
      failCode: 'cancelled',
      creditsRefunded: 165,
    });
  }
  assert.equal((await findAccount(service.database.db, accountId))?.balance, 1_000);
  const record = (await service.recordInfo(key, taskId)).json.data;
  assert.deepEqual(record['failMsg'], 'The task was cancelled by the operator of the service.');
  assert.ok(service.stopped.some((task) => task.taskId === taskId && task.hasCallback));
  assert.equal((await listOperatorActions(service.database.db, { accountId, limit: 10 })).length, 1);
});

test('200 a task that has succeeded stays, which the answer says, and nothing is stopped or logged', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  await succeed(taskId);
  const { json } = await cancel(taskId);
  assert.deepEqual(json.data, { taskId, cancelled: false, state: 'success', failCode: null, creditsRefunded: 0 });
  assert.ok(!service.stopped.some((task) => task.taskId === taskId));
  assert.deepEqual(await listOperatorActions(service.database.db, { accountId, limit: 10 }), []);
});

test('404 a task that is not there, and 422 an id that is none', async () => {
  for (const [taskId, status] of [
    [randomUUID(), 404],
    ['x', 422],
  ] as const) {
    assert.equal((await operator.ask('GET', `${admin}/tasks/show`, { query: { taskId } })).status, status);
    assert.equal((await cancel(taskId)).status, status);
    const redelivered = await operator.ask('POST', `${admin}/callbacks/redeliver`, { body: { taskId } });
    assert.equal(redelivered.status, status);
  }
});

for (const query of [
  { state: 'done' },
  { from: 'yesterday' },
  { accountId: 'x' },
  { cursor: 'x' },
  { modell: 'a' },
  { limit: '0' },
]) {
  test(`422 a list with ${JSON.stringify(query)}`, async () => {
    assert.equal((await operator.ask('GET', `${admin}/tasks`, { query: { ...query } })).status, 422);
  });
}
