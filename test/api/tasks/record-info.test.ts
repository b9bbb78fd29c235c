import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { TaskResult } from '../../../src/catalogue/tasks/task.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordQueuing, beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { assertSince } from '../../support/assert-since.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
let account: { accountId: string; key: string };
let progress = 0;
let asked = 0;
before(async () => {
  service = await startHttpService({
    progressOf: () => {
      asked += 1;
      return Promise.resolve(progress);
    },
  });
  account = await service.newAccount(100_000);
});
after(() => service.close());

async function newTask(request: unknown = plainRequest): Promise<string> {
  return String((await service.create(account.key, request)).json.data['taskId']);
}

async function recordOf(taskId: string): Promise<Record<string, unknown>> {
  const answer = await service.recordInfo(account.key, taskId);
  assert.equal(answer.status, 200);
  return answer.json.data;
}

/** The measures of `resultOf` in the record. */
const video = { width: 1280, height: 720, seconds: 5.042, framesPerSecond: 24, hasAudio: true, bytes: 1 };

function resultOf(taskId: string): TaskResult {
  const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
  const measured = { widthPx: 1280, heightPx: 720, durationSeconds: 5.0416666, framesPerSecond: 24, hasAudio: true };
  return { videoKey, posterKey, ...measured, bytes: 1, sha256: 'f'.repeat(64) };
}

test('200 a task that was just accepted has exactly the fields of the contract', async () => {
  const sinceMs = Date.now();
  const taskId = await newTask();
  const record = await recordOf(taskId);
  const { createTime } = record;
  assertSince(sinceMs, Number(createTime));
  assert.deepEqual(record, {
    taskId,
    model: 'videogen-2.0-fast',
    state: 'waiting',
    progress: 0,
    param: {
      model: 'videogen-2.0-fast',
      input: {
        prompt: 'A lighthouse in the fog',
        resolution: '720p',
        duration: 5,
        ratio: '16:9',
        generateAudio: true,
        imageUrls: [],
      },
    },
    resultJson: { resultUrls: [] },
    failCode: null,
    failMsg: null,
    creditsCharged: 165,
    creditsRefunded: 0,
    costTime: null,
    createTime,
    updateTime: createTime,
    completeTime: null,
  });
});

test('200 a task in generation shows the progress of the engine, but never 100', async () => {
  const taskId = await newTask();
  await recordQueuing(service.database.db, taskId);
  assert.deepEqual([(await recordOf(taskId))['state'], (await recordOf(taskId))['progress']], ['queuing', 0]);
  await beginGenerationAttempt(service.database.db, taskId);
  for (const [engine, shown] of [
    [0, 0],
    [41.7, 41],
    [100, 99],
    [250, 99],
    [-3, 0],
  ] as const) {
    progress = engine;
    const record = await recordOf(taskId);
    assert.deepEqual([record['state'], record['progress']], ['generating', shown]);
  }
});

test('200 a successful task shows links that are signed at each reading and lead to this service', async () => {
  const taskId = await newTask();
  await beginGenerationAttempt(service.database.db, taskId);
  await completeTask(service.database.db, taskId, resultOf(taskId));
  asked = 0;
  const record = await recordOf(taskId);
  assert.equal(asked, 0, 'the engine is not asked about what is final');
  assert.deepEqual([record['state'], record['progress']], ['success', 100]);
  const { resultUrls, ...measured } = record['resultJson'] as { resultUrls: unknown }; // as the contract says
  assert.match(
    JSON.stringify(resultUrls),
    new RegExp(`^\\["http://media.test/media/results/${taskId}/video.mp4\\?expires=\\d+&signature=[\\w-]{43}"\\]$`),
  );
  assert.deepEqual(measured, { video }, 'measured from the video');
  assert.equal(typeof record['costTime'], 'number');
  assert.equal(typeof record['completeTime'], 'number');
});

test('200 the last frame has a link of its own until the media has passed its retention', async () => {
  const taskId = await newTask();
  const lastFrameKey = `results/${taskId}/last-frame.jpg`;
  await completeTask(service.database.db, taskId, { ...resultOf(taskId), lastFrameKey });
  const resultJson = async () => (await recordOf(taskId))['resultJson'] as { lastFrameUrl?: string }; // as the contract says
  assert.match(
    String((await resultJson()).lastFrameUrl),
    new RegExp(`^http://media.test/media/${lastFrameKey}\\?expires=`),
  );
  const text = 'update tasks set media_deleted_at = now() where id = $1';
  await service.database.db.run({ name: 'test-delete-media', text }, [taskId]);
  assert.deepEqual(await resultJson(), { resultUrls: [], video });
});

test('200 a successful task whose media has passed its retention keeps its record and has no links', async () => {
  const taskId = await newTask();
  await completeTask(service.database.db, taskId, resultOf(taskId));
  const text = 'update tasks set media_deleted_at = now() where id = $1';
  await service.database.db.run({ name: 'test-delete-media', text }, [taskId]);
  const record = await recordOf(taskId);
  assert.deepEqual([record['state'], record['resultJson']], ['success', { resultUrls: [], video }]);
});

test('200 a failed task says why and that everything was refunded', async () => {
  const taskId = await newTask();
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  const record = await recordOf(taskId);
  const { state, failCode, failMsg, creditsCharged, creditsRefunded, resultJson } = record;
  assert.deepEqual([state, failCode, failMsg], ['fail', 'timeout', 'It took too long.']);
  assert.deepEqual([creditsCharged, creditsRefunded, resultJson], [165, 165, { resultUrls: [] }]);
});

test('200 the id may be spelt in capitals, and other parameters do not matter', async () => {
  const taskId = await newTask();
  assert.equal((await recordOf(`${taskId.toUpperCase()}&verbose=1&verbose=2`))['taskId'], taskId);
});

test('200 HEAD has the headers of GET and no body', async () => {
  const taskId = await newTask();
  const headers = { authorization: `Bearer ${account.key}` };
  const path = `/api/v1/jobs/recordInfo?taskId=${taskId}`;
  const [get, head] = [await service.send('GET', path, { headers }), await service.send('HEAD', path, { headers })];
  assert.deepEqual([head.status, head.bytes.length], [200, 0]);
  assert.equal(head.headers['content-length'], get.headers['content-length']);
  assert.equal(head.headers['content-type'], 'application/json');
});

/** What a client can see of an answer, the request id and the clock aside. */
function visible({ status, headers, bytes }: Answer): unknown {
  const { 'x-request-id': _id, date: _date, ...rest } = headers;
  return { status, headers: rest, body: bytes.toString() };
}

test("404 another account's task, no task, and what is no id at all get one and the same answer, byte for byte", async () => {
  const other = await service.newAccount(1000);
  const taskId = await newTask();
  assert.equal((await service.recordInfo(account.key, taskId)).status, 200);
  const foreign = await service.recordInfo(other.key, taskId);
  assertRefused(foreign, 404, /^task not found$/);
  for (const id of [
    randomUUID(),
    'x',
    '0',
    `${taskId}0`,
    `%27;drop table tasks`.replaceAll(' ', '%20'),
    'a'.repeat(3000),
    `%20${taskId}`,
    `{${taskId}}`,
    taskId.replaceAll('-', ''),
    '%ff',
    '%',
  ]) {
    assert.deepEqual(visible(await service.recordInfo(other.key, id)), visible(foreign), id);
  }
});

test('422 an id with a NUL is refused in the same words to its owner and to others', async () => {
  const other = await service.newAccount(1000);
  const id = `${await newTask()}%00`;
  const [own, foreign] = [await service.recordInfo(account.key, id), await service.recordInfo(other.key, id)];
  const errors = [{ path: 'taskId', message: 'must not contain NUL characters or unpaired surrogates' }];
  assertRefused(own, 422, /^taskId: must not contain NUL characters/, { errors });
  assert.deepEqual(visible(foreign), visible(own));
});

test('404 two accounts cannot see each other in either direction', async () => {
  const [a, b] = [await service.newAccount(1000), await service.newAccount(1000)];
  const ids = await Promise.all([a, b].map(({ key }) => service.create(key, plainRequest)));
  const [ofA, ofB] = ids.map(({ json }) => String(json.data['taskId']));
  assert.equal((await service.recordInfo(a.key, String(ofA))).status, 200);
  assert.equal((await service.recordInfo(b.key, String(ofB))).status, 200);
  assert.equal((await service.recordInfo(a.key, String(ofB))).status, 404);
  assert.equal((await service.recordInfo(b.key, String(ofA))).status, 404);
});

test('403 a key without tasks:read', async () => {
  const { key } = await service.newAccount(1000, ['tasks:write']);
  assertRefused(await service.recordInfo(key, randomUUID()), 403, /lacks the scope tasks:read/);
});

for (const [query, message] of [
  ['', 'is required'],
  ['?', 'is required'],
  ['?taskId=', 'is required'],
  ['?taskid=x', 'is required'],
  ['?taskId=a&taskId=b', 'must be given once'],
  ['?taskId=a&taskId=a', 'must be given once'],
] as const) {
  test(`422 a query of "${query}": taskId ${message}`, async () => {
    const headers = { authorization: `Bearer ${account.key}` };
    const answer = await service.send('GET', `/api/v1/jobs/recordInfo${query}`, { headers });
    assertRefused(answer, 422, new RegExp(`^taskId: ${message}$`), { errors: [{ path: 'taskId', message }] });
  });
}
