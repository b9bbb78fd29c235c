import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { ordinaryScopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import type { Role } from '../../../src/accounts/people/account-roles-and-scopes.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import { setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import { eventTypes } from '../../../src/tasks/callbacks/account-event-types-and-body.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { deleteResultFiles } from '../../../src/tasks/end/delete-content-of-task.ts';
import { recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { intendOwnMachineJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { recordLog } from '../../support/log-lines.ts';
import { createTestOperator, type TestOperator } from '../../support/service/operator-key.ts';
import { madeUpMeasures } from '../../support/tasks/tasks.ts';
import { rowsWith } from '../../support/database/rows-with-word.ts';
import { newPerson } from '../../support/service/person.ts';

let service: HttpService;
let operator: TestOperator;
let account: { accountId: string; key: string };
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
  account = await service.newAccount(100_000, [...ordinaryScopes, 'content:delete']);
  const endpoint = { url: 'http://events.test/', types: eventTypes };
  await setEventEndpoint(service.database.db, account.accountId, endpoint);
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const post = (path: string, body: unknown, key = account.key) =>
  service.send('POST', path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const remove = (body: unknown, key?: string) => post('/api/v1/jobs/deleteTask', body, key);
/** A word that is found nowhere else. */
const secret = 'lighthouse-8731';

async function uploaded(): Promise<string> {
  const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'image/png' };
  const body = await plainImage(300, 300).png().toBuffer();
  return String((await service.send('POST', '/api/v1/uploads', { headers, body })).json.data['url']);
}

const requestWith = (imageUrls: readonly string[] = []) => ({
  ...plainRequest,
  input: { ...plainRequest.input, prompt: secret, imageUrls },
  callBackUrl: `http://receiver.test/${secret}`,
});

async function created(headers: Record<string, string> = {}, imageUrls: readonly string[] = []): Promise<string> {
  const answer = await service.create(account.key, requestWith(imageUrls), headers);
  assert.equal(answer.status, 200, answer.bytes.toString());
  return String(answer.json.data['taskId']);
}

/** A task with everything that may tell what it was about. */
async function finished(headers?: Record<string, string>, imageUrls?: readonly string[]): Promise<string> {
  const taskId = await created(headers, imageUrls);
  const { db } = service.database;
  await intendOwnMachineJob(db, { taskId, ordinal: 1, provider: 'upstream' });
  await endProviderJob(db, { taskId, ordinal: 1, outcome: 'refused', detail: `I do not like ${secret}` });
  await completeTask(db, taskId, {
    ...madeUpMeasures,
    videoKey: `results/${taskId}/video.mp4`,
    posterKey: `results/${taskId}/poster.jpg`,
  });
  for (const deliveryId of [taskId, taskEventId(taskId)]) {
    await recordDeliveryAttempt(db, {
      delivery: { deliveryId, redeliveries: 0 },
      attempt: { startedAt: 1, durationMs: 1, status: 500, error: undefined, responseHead: Buffer.from(secret) },
      newState: { state: 'failed', dueAt: 1 },
    });
  }
  return taskId;
}

test('200 nothing in the database says any more what the task was about, and its skeleton and the ledger stay', async () => {
  const image = await uploaded();
  const taskId = await finished({}, [image]);
  const earlier = (await service.recordInfo(account.key, taskId)).json.data;
  assert.ok((await rowsWith(service.database.db, secret)).length >= 4);
  const answer = await remove({ taskId });
  assert.equal(answer.status, 200, answer.bytes.toString());
  assert.ok(Number(answer.json.data['contentDeleteTime']) > 0);
  const deliveries = { name: 'test-deliveries', text: 'select from callback_deliveries where task_id = $1' };
  assert.deepEqual(
    await service.database.db.run(deliveries, [taskId]),
    [],
    'neither its callback nor its event is left',
  );
  assert.deepEqual(await rowsWith(service.database.db, secret), []);
  const record = (await service.recordInfo(account.key, taskId)).json.data;
  assert.deepEqual(record, {
    ...earlier,
    param: { model: plainRequest.model, input: { ...inputOf(earlier), prompt: '(deleted)', imageUrls: [] } },
    resultJson: { ...(earlier['resultJson'] as object), resultUrls: [] },
  });
  const listed = await service.send('GET', '/api/v1/jobs/listTasks?limit=1', { headers: bearer() });
  assert.equal(tasksOf(listed.json.data)[0]?.['contentDeleteTime'], answer.json.data['contentDeleteTime']);
  const timeline = await service.send('GET', `/api/v1/jobs/timeline?taskId=${taskId}`, { headers: bearer() });
  assert.equal(timeline.status, 200);
  const detail = await operator.ask('GET', '/api/admin/v1/tasks/show', { query: { taskId } });
  assert.equal(detail.json.data['contentDeleteTime'], answer.json.data['contentDeleteTime']);
  const again = await service.create(account.key, requestWith([image]));
  assert.deepEqual([again.status, again.json.error], [422, 'invalid_request'], 'the image may not be named again');
});

const bearer = () => ({ authorization: `Bearer ${account.key}` });
const inputOf = ({ param }: Readonly<Record<string, unknown>>) => (param as { input: object }).input;
const tasksOf = ({ tasks }: Readonly<Record<string, unknown>>) => tasks as readonly Record<string, unknown>[];

test('200 a deletion by an operator deletes the uploaded images of the task, too', async () => {
  const image = await uploaded();
  const taskId = await finished({}, [image]);
  await operator.ask('POST', '/api/admin/v1/tasks/delete', { body: { taskId, reason: 'asked for' } });
  assert.equal((await service.create(account.key, requestWith([image]))).status, 422, 'the image is gone');
});

test('200 repeated, by the account and by an operator, it answers the first time and changes nothing', async () => {
  const taskId = await finished();
  const first = await remove({ taskId });
  assert.deepEqual((await remove({ taskId })).json, first.json);
  const operators = await operator.ask('POST', '/api/admin/v1/tasks/delete', { body: { taskId, reason: 'asked for' } });
  assert.deepEqual(operators.json, first.json);
});

test('200 the message of a failed task goes, its code and its refund stay', async () => {
  const taskId = await created();
  await post('/api/v1/jobs/cancelTask', { taskId });
  assert.equal((await remove({ taskId })).status, 200);
  const { data } = (await service.recordInfo(account.key, taskId)).json;
  assert.deepEqual(
    [data['state'], data['failCode'], data['failMsg'], data['creditsRefunded']],
    ['fail', 'cancelled', 'The content of this task was deleted.', data['creditsCharged']],
  );
});

const removeMany = (taskIds: unknown, key?: string) => post('/api/v1/jobs/deleteTasks', { taskIds }, key);

test('200 a bulk deletion deletes each task that has ended, leaves the others, counts ids of nobody, and may be repeated', async () => {
  const { db } = service.database;
  const [succeeded, deleted, live] = [await finished(), await finished(), await created()];
  const cancelled = await created();
  await post('/api/v1/jobs/cancelTask', { taskId: cancelled });
  const { contentDeleteTime } = (await remove({ taskId: deleted })).json.data;
  const other = await service.newAccount(1_000);
  const foreign = String((await service.create(other.key, requestWith())).json.data['taskId']);
  const ids = [succeeded, deleted, live, cancelled, foreign, randomUUID(), succeeded];
  const { status, json } = await removeMany(ids);
  assert.equal(status, 200, json.msg);
  const outcomes = tasksOf(json.data);
  assert.deepEqual(
    outcomes.map(({ taskId, deleted: isDeleted }) => [taskId, isDeleted]),
    [
      [succeeded, true],
      [deleted, true],
      [live, false],
      [cancelled, true],
    ],
  );
  const times = outcomes.map((outcome) => outcome['contentDeleteTime']);
  assert.deepEqual([times[1], times[2], json.data['notFound']], [contentDeleteTime, null, 2]);
  const prompts = await Promise.all(ids.slice(0, 5).map((id) => findTask(db, id)));
  assert.deepEqual(
    prompts.map((task) => task?.param.input.prompt),
    ['(deleted)', '(deleted)', secret, '(deleted)', secret],
  );
  assert.deepEqual((await removeMany(ids)).json.data, json.data, 'repeated');
});

test('422 a bulk deletion of no tasks, of more than a hundred, or of what is no id; 403 without the scope', async () => {
  for (const taskIds of [[], Array.from({ length: 101 }, () => randomUUID()), ['x'], 'x', undefined])
    assert.equal((await removeMany(taskIds)).status, 422);
  const byDefault = await createKeyUnchecked(service.database.db, {
    ...account,
    name: 'default',
    scopes: ordinaryScopes,
  });
  assertRefused(await removeMany([randomUUID()], byDefault?.key), 403, /the API key lacks the scope content:delete/);
});

test('409 a task that has not ended, to the account and to an operator, and it goes on', async () => {
  const taskId = await created();
  assertRefused(await remove({ taskId }), 409, /cancel it first/);
  const operators = await operator.ask('POST', '/api/admin/v1/tasks/delete', { body: { taskId, reason: 'asked for' } });
  assertRefused(operators, 409, /cancel it first/);
  assert.equal((await findTask(service.database.db, taskId))?.param.input.prompt, secret);
});

test('403 a member, a viewer and a key with the default scopes; an owner may, and so may a key with content:delete', async () => {
  const roles = (role: Role) => ({ roles: { [account.accountId]: role } });
  const ask = async (role: Role, taskId: string) => {
    const person = await newPerson(service, roles(role));
    return person.ask('POST', '/api/v1/jobs/deleteTask', { accountId: account.accountId, body: { taskId } });
  };
  const taskId = await finished();
  assertRefused(await ask('member', taskId), 403, /your role in this account lacks the scope content:delete/);
  const byDefault = await createKeyUnchecked(service.database.db, {
    ...account,
    name: 'default',
    scopes: ordinaryScopes,
  });
  assertRefused(await remove({ taskId }, byDefault?.key), 403, /the API key lacks the scope content:delete/);
  assertRefused(await ask('viewer', taskId), 403, /your role in this account/);
  assert.equal((await findTask(service.database.db, taskId))?.param.input.prompt, secret);
  assert.equal((await ask('owner', taskId)).status, 200);
  assert.equal((await remove({ taskId: await finished() })).status, 200);
});

test("404 an unknown task, and another account's", async () => {
  const other = await service.newAccount(0, ['content:delete']);
  assertRefused(await remove({ taskId: await finished() }, other.key), 404, /task not found/);
  assertRefused(await remove({ taskId: 'x' }), 404, /task not found/);
  const nobody = { taskId: '019abc12-3456-7def-8901-234567890abc', reason: 'asked for' };
  assertRefused(await operator.ask('POST', '/api/admin/v1/tasks/delete', { body: nobody }), 404, /task not found/);
});

test('410 a repeated create under its Idempotency-Key: nothing is charged, and nothing is made again', async () => {
  const headers = { 'idempotency-key': 'order-1' };
  const taskId = await finished(headers);
  await remove({ taskId });
  const started = service.started.length;
  for (const request of [requestWith(), { ...requestWith(), callBackUrl: 'http://other.test/' }]) {
    const answer = await service.create(account.key, request, headers);
    assertRefused(answer, 410, /was deleted; use another key/);
    assert.equal(answer.json.error, 'content_deleted');
  }
  assert.equal(service.started.length, started);
});

test('410 its callback is not sent again, one by one, by an operator or with all that failed', async () => {
  const taskId = await finished();
  await remove({ taskId });
  assertRefused(await post('/api/v1/callbacks/redeliver', { taskId }), 410, /content of this task was deleted/);
  const operators = await operator.ask('POST', '/api/admin/v1/callbacks/redeliver', { body: { taskId } });
  assertRefused(operators, 410, /content of this task was deleted/);
  await post('/api/v1/callbacks/redeliver-failed', { since: 0 });
  assert.ok(service.redelivered.every((redelivery) => redelivery.deliveryId !== taskId));
});

test('200 the video, its poster and its last frame are gone when the deletion is answered', async (t) => {
  const { resultStore } = service.deps;
  const taskId = await created();
  const [videoKey, posterKey, lastFrameKey] = ['video.mp4', 'poster.jpg', 'last-frame.jpg'].map(
    (name) => `results/${taskId}/${name}`,
  ) as [string, string, string]; // three names
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'file'), 'bytes');
  for (const key of [videoKey, posterKey, lastFrameKey]) await resultStore.put(key, join(folder, 'file'));
  await completeTask(service.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey, lastFrameKey });
  assert.equal((await remove({ taskId })).status, 200);
  for (const key of [videoKey, posterKey, lastFrameKey]) assert.equal(await resultStore.sizeOf(key), undefined, key);
});

test('a file that the store does not delete is logged, and left to housekeeping; a repeated deletion deletes no file', async () => {
  const task = (await findTask(service.database.db, await finished())) ?? assert.fail();
  const { taskId } = task;
  const { log, lines } = recordLog();
  const keys: string[] = [];
  const resultStore = {
    delete: async (key: string) => {
      keys.push(key);
      if (key === task.result?.posterKey) throw new Error('the store is down');
    },
  };
  const answer = { taskId, contentDeleteTime: 7 };
  for (const changed of [true, false])
    assert.deepEqual(await deleteResultFiles({ resultStore, log }, task, { deletedAt: 7, changed }), answer);
  assert.deepEqual(keys, [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`]);
  const [{ err, ...line } = assert.fail(), ...others] = lines;
  assert.deepEqual([line, others], [{ level: 40, taskId, msg: 'video not deleted yet' }, []]);
  assert.equal((err as Error).message, 'the store is down'); // as pino writes an error
});

test('410 the link to a video that was deleted says when and why; one to a video that is missing is 404', async () => {
  await awayFromMidnight();
  const { db } = service.database;
  const follow = async (taskId: string) => {
    const { pathname, search } = new URL(service.deps.resultStore.link(`results/${taskId}/video.mp4`));
    return service.send('GET', pathname + search);
  };
  const [requested, expired, missing, lost] = [await finished(), await finished(), await finished(), await finished()];
  await remove({ taskId: requested });
  await finishedLongAgo(expired);
  await markMediaDeleted(db, expired);
  const day = new Date().toISOString().slice(0, 10);
  const gone = await follow(requested);
  assertRefused(gone, 410, new RegExp(`was deleted on request, on ${day}T`));
  assert.equal(gone.json.error, 'media_deleted');
  assertRefused(await follow(expired), 410, new RegExp(`was deleted after its retention of 14 days, on ${day}T`));
  await remove({ taskId: expired });
  assertRefused(await follow(expired), 410, /after its retention of 14 days, on /);
  assertRefused(await follow(missing), 404, /file not found/);
  // As `videogen media check --forget` does: its time was not over.
  await markMediaDeleted(db, lost);
  assertRefused(await follow(lost), 410, new RegExp(`was deleted, on ${day}T`));
});

/** The row of a final task refuses changes, so its guard is off meanwhile. */
async function finishedLongAgo(taskId: string): Promise<void> {
  const client = new pg.Client({ connectionString: service.database.url });
  await client.connect();
  await client.query('set session_replication_role = replica');
  await client.query(`update tasks set completed_at = completed_at - interval '15 days' where id = $1`, [taskId]);
  await client.end();
}
