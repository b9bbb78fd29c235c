import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordQueuing, beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { intendOwnMachineJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { succeedProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { listApiKeys } from '../../../src/accounts/keys/keys.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { askWith, dataOf } from '../../support/service/operator-key.ts';
import { newPerson } from '../../support/service/person.ts';
import { madeUpMeasures } from '../../support/tasks/tasks.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const path = '/api/v1/jobs/timeline';

type Timeline = {
  readonly task: {
    readonly state: string;
    readonly resultJson: { readonly video?: object };
    readonly createTime: number;
    readonly completeTime: number;
    readonly creditsCharged: number;
    readonly creditsRefunded: number;
  };
  readonly steps: readonly { readonly step: string; readonly startTime: number; readonly endTime: number | null }[];
  readonly ledger: readonly {
    readonly kind: string;
    readonly amount: number;
    readonly balanceAfter: number;
    readonly reason: string | null;
  }[];
  readonly aheadOfOwn: number | null;
};

async function timelineOf(key: string, taskId: string): Promise<Timeline & Record<string, unknown>> {
  // The service holds its answers against the schema of the endpoint.
  return (await dataOf(askWith(service, key)('GET', path, { query: { taskId } }))) as Timeline &
    Record<string, unknown>;
}

async function newTask(key: string, callBackUrl?: string): Promise<string> {
  const { status, json } = await service.create(key, { ...plainRequest, callBackUrl });
  assert.equal(status, 200);
  return String(json.data['taskId']);
}

function assertError({ status, json }: Answer, expected: number, error: string): void {
  assert.deepEqual([status, json.error], [expected, error]);
}

const named = ({ steps }: Timeline) => steps.map(({ step }) => step);

test('200 a waiting task knows how many of its own are ahead', async () => {
  const { key } = await service.newAccount(1_000);
  await newTask((await service.newAccount(1_000)).key);
  const [first, second] = [await newTask(key), await newTask(key)];
  assert.equal((await timelineOf(key, first)).aheadOfOwn, 0);
  const timeline = await timelineOf(key, second);
  assert.equal(timeline.aheadOfOwn, 1);
  assert.deepEqual(named(timeline), ['accepted', 'waited']);
  assert.equal(timeline.steps[1]?.endTime, null);
  await beginGenerationAttempt(service.database.db, first);
  assert.equal((await timelineOf(key, second)).aheadOfOwn, 0);
  assert.equal((await timelineOf(key, first)).aheadOfOwn, null);
});

test('200 the steps of a success follow each other without a gap, and no provider is named', async () => {
  const { db } = service.database;
  const { key } = await service.newAccount(1_000);
  const taskId = await newTask(key, 'http://127.0.0.1/');
  await recordQueuing(db, taskId);
  await beginGenerationAttempt(db, taskId);
  await intendOwnMachineJob(db, { taskId, ordinal: 1, provider: 'secret-upstream' });
  await recordCreatedJob(db, { taskId, ordinal: 1, jobId: 'job' });
  await succeedProviderJob(db, taskId);
  assert.equal((await listProviderJobs(db, taskId)).length, 1);
  const keys = { videoKey: `results/${taskId}/video.mp4`, posterKey: `results/${taskId}/poster.jpg` };
  await completeTask(db, taskId, { ...madeUpMeasures, ...keys });
  const timeline = await timelineOf(key, taskId);
  assert.deepEqual(named(timeline), ['accepted', 'waited', 'generating', 'stored', 'succeeded', 'callback']);
  const [, ...ends] = timeline.steps;
  for (const [index, { startTime }] of ends.entries()) {
    assert.equal(startTime, timeline.steps[index]?.endTime, 'a step begins when the one before it ends');
  }
  assert.deepEqual(timeline.steps[0]?.startTime, timeline.task.createTime);
  assert.deepEqual(timeline.steps[4]?.startTime, timeline.task.completeTime);
  assert.match(String(timeline['posterUrl']), /poster\.jpg\?expires=/);
  assert.deepEqual(Object.keys(timeline.task.resultJson.video ?? {}), [
    'width',
    'height',
    'seconds',
    'framesPerSecond',
    'hasAudio',
    'bytes',
  ]);
  assert.ok(Number(timeline['mediaDeleteTime']) > timeline.task.completeTime);
  assert.doesNotMatch(JSON.stringify(timeline), /secret-upstream|sha256|Key"/);
});

test('200 a video that fell short has its partial refund as a step, an entry with the reason, and in the record', async () => {
  const { key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  const keys = { videoKey: `results/${taskId}/video.mp4`, posterKey: `results/${taskId}/poster.jpg` };
  const refund = { credits: 33, reason: '4.0 s delivered, 5 s ordered' };
  await completeTask(service.database.db, taskId, { ...madeUpMeasures, ...keys }, refund);
  const timeline = await timelineOf(key, taskId);
  assert.deepEqual(named(timeline), ['accepted', 'waited', 'succeeded', 'partially_refunded']);
  const { state, creditsCharged, creditsRefunded } = timeline.task;
  assert.deepEqual([state, creditsCharged, creditsRefunded], ['success', 165, 33]);
  assert.deepEqual(
    timeline.ledger.map(({ kind, amount, balanceAfter, reason }) => ({ kind, amount, balanceAfter, reason })),
    [
      { kind: 'charge', amount: -165, balanceAfter: 835, reason: null },
      { kind: 'partial_refund', amount: 33, balanceAfter: 868, reason: refund.reason },
    ],
  );
});

test('200 the receipt of a failure is its refund, beside the charge', async () => {
  const { key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  const timeline = await timelineOf(key, taskId);
  assert.deepEqual(named(timeline), ['accepted', 'waited', 'failed', 'refunded']);
  assert.deepEqual(
    timeline.ledger.map(({ kind, amount, balanceAfter }) => [kind, amount, balanceAfter]),
    [
      ['charge', -165, 835],
      ['refund', 165, 1_000],
    ],
  );
  assert.equal(timeline.task.resultJson.video, undefined);
  assert.equal(timeline['callback'], null);
});

test('200 the maker of a task is the key or the person that created it, among those of all accounts', async () => {
  const [own, other] = [await service.newAccount(1_000), await service.newAccount(1_000)];
  const person = await newPerson(service, { roles: { [own.accountId]: 'owner' } });
  const byKey = await newTask(own.key);
  await newTask(other.key);
  const order = { accountId: own.accountId, body: plainRequest, headers: { 'idempotency-key': 'by-person' } };
  const answer = await person.ask('POST', '/api/v1/jobs/createTask', order);
  assert.equal(answer.status, 200, answer.json.msg);
  const byPerson = String(answer.json.data['taskId']);
  const [key] = await listApiKeys(service.database.db, own.accountId);
  const makers = [byKey, byPerson].map(async (taskId) => (await timelineOf(own.key, taskId))['createdBy']);
  assert.deepEqual(await Promise.all(makers), [
    { kind: 'key', id: key?.keyId, name: key?.name },
    { kind: 'person', id: person.userId, name: person.email },
  ]);
});

test('200 a key that may not read credits reads no ledger', async () => {
  const { key } = await service.newAccount(1_000, ['tasks:write', 'tasks:read']);
  assert.deepEqual((await timelineOf(key, await newTask(key))).ledger, []);
});

test("404 another account's task and an unknown one, 422 for a misspelt parameter, 403 without the scope", async () => {
  const [mine, other] = [await service.newAccount(1_000), await service.newAccount(1_000)];
  const taskId = await newTask(other.key);
  for (const id of [taskId, '00000000-0000-4000-8000-000000000000', 'x']) {
    assertError(await askWith(service, mine.key)('GET', path, { query: { taskId: id } }), 404, 'task_not_found');
  }
  assertError(await askWith(service, mine.key)('GET', path, { query: { taskID: taskId } }), 422, 'invalid_request');
  const { key } = await service.newAccount(0, ['credits:read']);
  assertError(await askWith(service, key)('GET', path, { query: { taskId } }), 403, 'scope_missing');
});

test('200 the uploaded files of the input, and those of a list of addresses, have links that show them for as long as they are stored', async () => {
  const { key } = await service.newAccount(1_000);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'image/png' };
  const body = await plainImage(300, 300).png().toBuffer();
  const { url } = (await service.send('POST', '/api/v1/uploads', { headers, body })).json.data;
  const imageUrls = [String(url), 'https://elsewhere.example/a.png'];
  const created = await service.create(key, { ...plainRequest, input: { ...plainRequest.input, imageUrls } });
  const taskId = String(created.json.data['taskId']);
  const previews = (await timelineOf(key, taskId))['previews'] as { url: string; previewUrl: string }[];
  assert.deepEqual(
    previews.map((one) => one.url),
    [url],
  );
  const { pathname, search } = new URL(previews[0]?.previewUrl ?? '');
  const shown = await service.send('GET', pathname + search);
  assert.deepEqual([shown.status, shown.headers['content-type']], [200, 'image/jpeg']);
  const byAddress = async () => {
    const query = { urls: imageUrls.join() };
    const { json } = await askWith(service, key)('GET', '/api/v1/uploads/previews', { query });
    return (json.data['previews'] as typeof previews).map((one) => [one.url, new URL(one.previewUrl).pathname]);
  };
  assert.deepEqual(await byAddress(), [[url, pathname]]);
  const text = `update uploads set expires_at = now() - interval '1 second'`;
  await service.database.db.run({ name: 'expire-uploads', text, plannedAnew: true });
  assert.deepEqual((await timelineOf(key, taskId))['previews'], []);
  assert.deepEqual(await byAddress(), []);
});
