import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { findAccount } from '../../src/accounts/accounts.ts';
import { findDelivery, recordDeliveryAttempt } from '../../src/callbacks/deliveries.ts';
import { completeTask, startGeneration } from '../../src/tasks/tasks.ts';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { listActions } from '../../src/operators/operator-actions.ts';
import { intendProviderJob, recordProviderJob } from '../../src/providers/provider-jobs.ts';
import { assertRefused } from '../support/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../support/http-service.ts';
import { askWith, createTestOperator, dataOf, type TestOperator } from '../support/operator.ts';
import { owedCallback } from '../support/owed-callback.ts';
import { madeUpMeasures } from '../support/tasks.ts';

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
  await startGeneration(service.database.db, String(ids[2]));
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
  await intendProviderJob(db, { taskId: other, ordinal: 1, provider: 'somewhere' });
  await cancel(plain);
  assert.deepEqual(await walk({ from, model: 'videogen-2.0' }), [other]);
  assert.deepEqual(await walk({ accountId, model: 'videogen-2.0' }), [other]);
  assert.deepEqual(await walk({ from, provider: 'somewhere' }), [other]);
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
  const { taskId } = await owedCallback(db, accountId, 'http://receiver.test/hook?secret=1', 'success');
  await intendProviderJob(db, { taskId, ordinal: 1, provider: 'preview' });
  await recordProviderJob(db, { taskId, ordinal: 1, jobId: 'job-1' });
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
    await recordDeliveryAttempt(db, { delivery, attempt, verdict: { state: 'pending', dueAt: 3_000 } });
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

test('200 the account sees the same task and callback without what only operators see', async () => {
  const { db } = service.database;
  const { accountId, key } = await service.newAccount(1_000);
  const { taskId } = await owedCallback(db, accountId, 'http://receiver.test/', 'success');
  await intendProviderJob(db, { taskId, ordinal: 1, provider: 'secret-upstream' });
  await recordProviderJob(db, { taskId, ordinal: 1, jobId: 'secret-job' });
  const attempt = { durationMs: 12, status: undefined, error: 'secret-kind', responseHead: Buffer.from('secret-head') };
  await recordDeliveryAttempt(db, {
    delivery: { deliveryId: taskId, redeliveries: 0 },
    attempt: { ...attempt, startedAt: 1_000 },
    verdict: { state: 'pending', dueAt: 3_000 },
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
  assert.equal((await listActions(service.database.db, { accountId, limit: 10 })).length, 1);
});

test('200 a task that has succeeded stays, which the answer says, and nothing is stopped or logged', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  await succeed(taskId);
  const { json } = await cancel(taskId);
  assert.deepEqual(json.data, { taskId, cancelled: false, state: 'success', failCode: null, creditsRefunded: 0 });
  assert.ok(!service.stopped.some((task) => task.taskId === taskId));
  assert.deepEqual(await listActions(service.database.db, { accountId, limit: 10 }), []);
});

type Failed = { readonly callbacks: readonly { taskId: string; state: string }[]; readonly nextCursor: string | null };

test('200 callbacks that failed are listed over all accounts, and redelivering one does not disturb the pages', async () => {
  const { db } = service.database;
  const ids: string[] = [];
  for (const state of ['failed', 'rejected', 'failed', 'delivered', 'failed'] as const) {
    const { accountId } = await service.newAccount(1_000);
    const { taskId } = await owedCallback(db, accountId, 'http://receiver.test/');
    const attempt = { startedAt: 0, durationMs: 1, status: 500, error: undefined, responseHead: undefined };
    await recordDeliveryAttempt(db, {
      delivery: { deliveryId: taskId, redeliveries: 0 },
      attempt,
      verdict: { state, dueAt: 0 },
    });
    if (state !== 'delivered') ids.unshift(taskId);
  }
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { limit: '2', ...(cursor !== undefined && { cursor }) };
    const page = (await dataOf(operator.ask('GET', `${admin}/callbacks/failed`, { query }))) as Failed;
    for (const { taskId } of page.callbacks) {
      seen.push(taskId);
      const again = await dataOf(operator.ask('POST', `${admin}/callbacks/redeliver`, { body: { taskId } }));
      assert.equal(again['state'], 'pending');
      assert.equal((again['operator'] as { redeliveries: number }).redeliveries, 1);
    }
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen, ids);
  assert.deepEqual(
    service.redelivered.map(({ deliveryId }) => deliveryId),
    ids,
  );
  const left = (await dataOf(operator.ask('GET', `${admin}/callbacks/failed`))) as Failed;
  assert.deepEqual(left.callbacks, []);
});

test('200 events that failed are listed with their type, also those about no task', async () => {
  const { db } = service.database;
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  const text = `
insert into callback_deliveries (account_id, event, url, details, task_id, state, finished_at)
values ($1, 'balance.low', 'http://events.test/', '{}', null, 'failed', now() + interval '1 hour'),
  ($1, 'task.failed', 'http://events.test/', null, $2, 'rejected', now() + interval '2 hours')`;
  await db.run({ name: 'test-failed-events', text }, [accountId, taskId]);
  const page = (await dataOf(operator.ask('GET', `${admin}/callbacks/failed`, { query: { limit: '2' } }))) as {
    readonly callbacks: readonly { readonly taskId: string | null; readonly event: string | null }[];
  };
  assert.deepEqual(
    page.callbacks.map(({ taskId: about, event }) => [about, event]),
    [
      [taskId, 'task.failed'],
      [null, 'balance.low'],
    ],
  );
});

test('409 and 422 no callback is sent before the end of its task, nor for a task without one', async () => {
  const { key } = await service.newAccount(1_000);
  const redeliver = (taskId: string) => operator.ask('POST', `${admin}/callbacks/redeliver`, { body: { taskId } });
  const running = await newTask(key, { callBackUrl: 'http://receiver.test/' });
  assertRefused(await redeliver(running), 409, /has not ended/);
  assert.equal((await redeliver(await newTask(key))).status, 422);
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

for (const cursor of ['x', '1', '1_x', `-1_${randomUUID()}`, `1_${randomUUID()}'`]) {
  test(`422 failed callbacks after ${cursor.slice(0, 4)}`, async () => {
    assert.equal((await operator.ask('GET', `${admin}/callbacks/failed`, { query: { cursor } })).status, 422);
  });
}
