import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/accounts/api-key.ts';
import { readCatalogueFile } from '../../src/models/catalogue-file.ts';
import { createApiKey } from '../../src/accounts/keys.ts';
import { findDelivery } from '../../src/callbacks/deliveries.ts';
import { completeTask, refundTask } from '../../src/tasks/tasks.ts';
import { readBooks } from '../../src/credits/credits.ts';
import { markMediaDeleted } from '../../src/tasks/task-list.ts';
import { type Answer, assertRefused } from '../support/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../support/http-service.ts';
import { madeUpMeasures } from '../support/tasks.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(async () => {
  await service.close();
  assert.ok(!service.log.some((line) => line['failure'] === 'internal'), 'request crashed');
});

const ordinary: readonly Scope[] = ['tasks:write', 'tasks:read', 'credits:read'];

/** An account with a key of either dialect. */
async function newAccount(credits = 10_000, scopes = ordinary) {
  const { accountId, key: native } = await service.newAccount(credits, scopes);
  const { db } = service.database;
  const created = await createApiKey(db, { accountId, name: 'their client', scopes, dialect: 'kie' });
  assert.ok(created);
  return { accountId, native, kie: created.key };
}

const request = { model: 'bytedance/seedance-2-fast', input: { prompt: 'A lighthouse in the fog' } };

async function createdBy(key: string, body: unknown = request): Promise<string> {
  const answer = await service.create(key, body);
  assert.equal(answer.status, 200, answer.bytes.toString());
  return String(answer.json.data['taskId']);
}

const record = async (key: string, taskId: string) => (await service.recordInfo(key, taskId)).json.data;
const balanceOf = async (accountId: string) =>
  (await readBooks(service.database.db, { accountId, before: undefined, limit: 1 })).balance;

function post(key: string, path: string, body: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return service.send('POST', path, { headers, body: JSON.stringify(body) });
}

function get(key: string, path: string): Promise<Answer> {
  return service.send('GET', path, { headers: { authorization: `Bearer ${key}` } });
}

/** The bare value that their endpoints answer, which is no object as ours always is. */
function bare(answer: Answer): unknown {
  // An envelope, or the next line fails.
  const { code, msg, data } = JSON.parse(answer.bytes.toString()) as Record<string, unknown>;
  assert.deepEqual([answer.status, code, msg], [200, 200, 'success'], answer.bytes.toString());
  return data;
}

async function succeeded(taskId: string): Promise<void> {
  const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
  await completeTask(service.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey });
}

test('200 createTask answers the id; the model’s own price is charged', async () => {
  const { kie, accountId } = await newAccount();
  const answer = await service.create(kie, request);
  const { taskId } = answer.json.data;
  assert.deepEqual(answer.json.data, { taskId, recordId: taskId });
  assert.equal(await balanceOf(accountId), 10_000 - 165);
});

test('200 recordInfo answers param and resultJson as text, empty until success', async () => {
  const { kie } = await newAccount();
  const taskId = await createdBy(kie);
  const waiting = await record(kie, taskId);
  assert.deepEqual(
    ['state', 'resultJson', 'failCode', 'failMsg', 'creditsConsumed', 'completeTime'].map((name) => waiting[name]),
    ['waiting', '', null, null, 165, null],
  );
  assert.deepEqual([waiting['response'], waiting['successFlag'], waiting['costTime']], [null, 0, null]);
  assert.equal(typeof waiting['param'], 'string');
  await succeeded(taskId);
  const done = await record(kie, taskId);
  assert.match(String(done['resultJson']), /^\{"resultUrls":\["http:\/\/media\.test\/media\/results\/.*"\]\}$/);
  assert.deepEqual([done['progress'], done['creditsConsumed']], [100, 165]);
  assert.deepEqual([done['successFlag'], done['failCode'], done['failMsg']], [1, null, null]);
  assert.deepEqual(done['response'], JSON.parse(String(done['resultJson'])));
});

test('200 costTime is in whole seconds, while a native key reads milliseconds', async () => {
  const { kie, native } = await newAccount();
  const taskId = await createdBy(kie);
  const text = `update tasks set generation_started_at = now() - interval '7654 milliseconds' where id = $1`;
  await service.database.db.run({ name: 'test-cost-time', text }, [taskId]);
  await succeeded(taskId);
  const milliseconds = Number((await record(native, taskId))['costTime']);
  assert.ok(milliseconds >= 7654, String(milliseconds));
  assert.equal((await record(kie, taskId))['costTime'], Math.floor(milliseconds / 1000));
});

test('200 a failed task has its code as text, has consumed nothing, and has no result', async () => {
  const { kie } = await newAccount();
  const taskId = await createdBy(kie);
  await refundTask(service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  const failed = await record(kie, taskId);
  assert.deepEqual(
    ['state', 'failCode', 'failMsg', 'resultJson', 'creditsConsumed'].map((name) => failed[name]),
    ['fail', 'timeout', 'It took too long.', '', 0],
  );
  assert.deepEqual([failed['successFlag'], failed['response']], [3, null]);
});

test('200 with Prefer: wait createTask answers the whole record, in the dialect too', async () => {
  const { kie } = await newAccount();
  const answer = await service.create(kie, request, { prefer: 'wait=1' });
  assert.equal(typeof answer.json.data['param'], 'string');
});

test('the reader’s key decides the shape, whoever created the task', async () => {
  const { kie, native } = await newAccount();
  for (const taskId of [await createdBy(kie), await createdBy(native, plainRequest)]) {
    assert.deepEqual((await record(native, taskId))['resultJson'], { resultUrls: [] });
    assert.equal((await record(native, taskId))['model'], 'videogen-2.0-fast');
    assert.equal((await record(kie, taskId))['resultJson'], '');
    assert.equal((await record(kie, taskId))['model'], 'bytedance/seedance-2-fast');
  }
});

test('the task keeps the dialect of the key that created it, for its callback', async () => {
  const { kie, native } = await newAccount();
  const { db } = service.database;
  for (const [key, dialect, body] of [
    [kie, 'kie', request],
    [native, 'native', plainRequest],
  ] as const) {
    const taskId = await createdBy(key, { ...body, callBackUrl: 'https://client.example/done' });
    await succeeded(taskId);
    assert.equal((await findDelivery(db, taskId))?.dialect, dialect);
  }
});

test('200 a model of the catalogue answers by its own name, also when that is a built-in alias of another', async () => {
  const entry = { title: 'Ours', prices: [{ creditsPerSecond: 10 }] };
  const named = [{ model: 'bytedance/seedance-2', ...entry, aliases: ['house-model'] }];
  const file = { models: [...named, { model: 'videogen-2.0', ...entry }] };
  const catalogue = readCatalogueFile({ path: 'models.json', readText: () => JSON.stringify(file) });
  const own = await startHttpService({ catalogue: () => catalogue, database: service.database });
  try {
    const { kie, native } = await newAccount();
    for (const model of ['bytedance/seedance-2', 'house-model']) {
      const created = await own.create(kie, { model, input: { prompt: 'A cat' } });
      assert.equal(created.status, 200, created.json.msg);
      const taskId = String(created.json.data['taskId']);
      assert.equal((await own.recordInfo(native, taskId)).json.data['model'], 'bytedance/seedance-2');
      assert.equal((await own.recordInfo(kie, taskId)).json.data['model'], 'house-model');
    }
  } finally {
    await own.close();
  }
});

test('422 names the fields as the client wrote them, and charges nothing', async () => {
  const { kie, accountId } = await newAccount();
  const answer = await service.create(kie, { model: 'veo3', input: { prompt: 'A cat', aspect_ratio: '2:1' } });
  const ratioRule = 'must be one of adaptive, 16:9, 9:16, 1:1, 4:3, 3:4, 21:9';
  const modelRule = 'must be one of bytedance/seedance-2, bytedance/seedance-2-fast';
  assertRefused(answer, 422, /^model: must be one of bytedance/, {
    errors: [
      { path: 'model', message: modelRule },
      { path: 'input.aspect_ratio', message: ratioRule },
    ],
  });
  assert.equal(await balanceOf(accountId), 10_000);
});

test('422 a task that is not there, with the words that its clients know; a native key reads 404', async () => {
  const { kie, native } = await newAccount();
  const stranger = await newAccount();
  const others = await createdBy(stranger.kie);
  for (const taskId of [others, 'task_12345', '019abc12-3456-7def-8901-234567890abc']) {
    const data = { errors: [{ path: 'taskId', message: 'recordInfo is null' }] };
    assertRefused(await service.recordInfo(kie, taskId), 422, /^recordInfo is null$/, data);
    assertRefused(await service.recordInfo(native, taskId), 404, /task not found/);
  }
});

test('402 and 401 are real statuses', async () => {
  const { kie } = await newAccount(100);
  assertRefused(await service.create(kie, request), 402, /balance/, { required: 165, balance: 100 });
  assert.equal((await service.create('no-such-key', request)).status, 401);
});

test('one Idempotency-Key is one task, also when it comes back in the other spelling', async () => {
  const { kie, native, accountId } = await newAccount();
  const headers = { 'idempotency-key': 'the-same-order' };
  const theirs = { ...request, input: { prompt: 'A cat', aspect_ratio: '9:16', generate_audio: false } };
  const first = await service.create(kie, { ...theirs, callbackUrl: 'stray' }, headers);
  const again = await service.create(kie, theirs, headers);
  const input = { prompt: 'A cat', ratio: '9:16', generateAudio: false };
  const ours = await service.create(native, { model: 'videogen-2.0-fast', input }, headers);
  const { taskId } = first.json.data;
  assert.equal(typeof taskId, 'string', first.json.msg);
  assert.deepEqual([again.json.data['taskId'], ours.json.data['taskId']], [taskId, taskId]);
  assert.equal(ours.headers['idempotency-replayed'], 'true');
  assert.equal(await balanceOf(accountId), 10_000 - 165);
  const other = await service.create(kie, { ...theirs, input: { prompt: 'A cat', aspect_ratio: '1:1' } }, headers);
  assertRefused(other, 409, /Idempotency-Key/);
});

test('200 chat/credit answers the balance as a bare number', async () => {
  const { kie } = await newAccount(4321);
  assert.equal(bare(await get(kie, '/api/v1/chat/credit')), 4321);
});

test('200 download-url makes a fresh link of an old one, whatever its signature and host', async () => {
  const { kie } = await newAccount();
  const taskId = await createdBy(kie);
  await succeeded(taskId);
  const path = `/media/results/${taskId}/video.mp4`;
  for (const url of [`http://media.test${path}?expires=1&signature=gone`, `https://old-host.test/bucket${path}`]) {
    const link = bare(await post(kie, '/api/v1/common/download-url', { url, extra: true }));
    assert.ok(String(link).startsWith(`http://media.test${path}?expires=`), String(link));
  }
});

test('422 download-url gives nothing for what is not a video of the caller', async () => {
  const { kie } = await newAccount();
  const stranger = await newAccount();
  const [unfinished, own, others] = [await createdBy(kie), await createdBy(kie), await createdBy(stranger.kie)];
  await succeeded(own);
  await succeeded(others);
  const urls = [
    `http://media.test/media/results/${others}/video.mp4`,
    `http://media.test/media/results/${unfinished}/video.mp4`,
    `http://media.test/media/staging/${own}/video.mp4`,
    `http://media.test/media/results/${own}/video.mp4/more`,
    'http://media.test/media/results/019abc12-3456-7def-8901-234567890abc/video.mp4',
    'https://elsewhere.test/cat.mp4',
    'no address',
    '',
    `http://media.test/${'x'.repeat(5_000)}`,
    7,
  ];
  for (const url of urls) {
    const message = 'must be a video URL of this service';
    const answer = await post(kie, '/api/v1/common/download-url', { url });
    assertRefused(answer, 422, /^url: must be a video URL/, { errors: [{ path: 'url', message }] });
  }
  assertRefused(await post(kie, '/api/v1/common/download-url', {}), 422, /^url: is required$/, {
    errors: [{ path: 'url', message: 'is required' }],
  });
});

test('410 download-url for a video that is no longer kept', async () => {
  const { kie } = await newAccount();
  const taskId = await createdBy(kie);
  await succeeded(taskId);
  await markMediaDeleted(service.database.db, taskId);
  const url = `http://media.test/media/results/${taskId}/video.mp4`;
  assertRefused(await post(kie, '/api/v1/common/download-url', { url }), 410, /was deleted/);
  assert.equal((await record(kie, taskId))['resultJson'], '{"resultUrls":[]}');
});

const howTo = /dialect kie.*POST \/api\/v1\/keys \{"name": "…", "dialect": "kie"\}.*videogen key create --dialect kie$/;

test('a native key that sends such a request is refused, and told of the dialect and how to get a key of it', async () => {
  const { native, accountId } = await newAccount();
  const plain = plainRequest.input;
  const theirs = [
    { ...plainRequest, model: 'bytedance/seedance-2-fast' },
    { ...plainRequest, model: 'bytedance/of-tomorrow' },
    ...Object.entries({
      aspect_ratio: '9:16',
      generate_audio: false,
      reference_image_urls: [],
      first_frame_url: 'https://images.example/cat.png',
      return_last_frame: false,
      nsfw_checker: true,
    }).map(([name, value]) => ({ ...plainRequest, input: { ...plain, [name]: value } })),
  ];
  for (const body of theirs) {
    const { status, json } = await service.create(native, body);
    assert.equal(status, 422);
    assert.match(json.msg, howTo, JSON.stringify(body));
  }
  const slip = await service.create(native, { ...plainRequest, input: { ...plain, promt: 'A cat' } });
  assert.doesNotMatch(slip.json.msg, /kie/);
  assertRefused(await get(native, '/api/v1/chat/credit'), 403, howTo);
  assertRefused(await post(native, '/api/v1/common/download-url', { url: 'x' }), 403, howTo);
  assert.equal(await balanceOf(accountId), 10_000);
});

test('404 endpoints of that API that are missing here say so, and what to do instead', async () => {
  const { kie } = await newAccount();
  for (const [path, sentence] of [
    ['/api/v1/models/bytedance/seedance-2/schema', /not offered here; GET \/api\/v1\/models/],
    ['/api/v1/models/veo-3-1/price', /not offered here; GET \/api\/v1\/models/],
    ['/api/v1/models/veo-3-1/success-rate', /not offered here; GET \/api\/v1\/models/],
  ] as const) {
    assertRefused(await get(kie, path), 404, sentence);
  }
  for (const kind of ['base64', 'stream', 'url']) {
    assertRefused(await post(kie, `/api/file-${kind}-upload`, {}), 404, /not offered here; .*https URL/);
  }
});

test('200 any key reads and writes the native dialect when it says so, for that request alone', async () => {
  const { kie, native } = await newAccount();
  const headers = { 'videogen-dialect': 'native' };
  const created = await service.create(kie, plainRequest, headers);
  assert.deepEqual(Object.keys(created.json.data), ['taskId', 'creditsCharged']);
  const taskId = String(created.json.data['taskId']);
  const read = await service.send('GET', `/api/v1/jobs/recordInfo?taskId=${taskId}`, {
    headers: { authorization: `Bearer ${kie}`, ...headers },
  });
  assert.deepEqual(read.json.data, await record(native, taskId));
  assert.equal((await record(kie, taskId))['resultJson'], '');
  assert.equal((await service.create(kie, request, headers)).status, 422);
  assert.equal((await service.create(kie, request)).status, 200, 'the header is not remembered with the key');
});

test('200 a key of the dialect is shown the callback secret, the key of its X-Webhook-Signature', async () => {
  const { kie } = await newAccount(0, ['callbacks:secret']);
  const { status, json } = await post(kie, '/api/v1/callbacks/secret', {});
  assert.equal(status, 200, json.msg);
  assert.match(String(json.data['secret']), /^whsec_/);
});

test('a native key sees none of it: aliases, snake case and extras are refused', async () => {
  const { native, accountId } = await newAccount();
  const refused = [
    { ...plainRequest, model: 'bytedance/seedance-2-fast' },
    { ...plainRequest, callbackUrl: 'https://client.example/' },
    { ...plainRequest, input: { ...plainRequest.input, aspect_ratio: '9:16' } },
    { ...plainRequest, input: { ...plainRequest.input, callBackUrl: 'https://client.example/' } },
  ];
  for (const body of refused) assert.equal((await service.create(native, body)).status, 422);
  assert.equal(await balanceOf(accountId), 10_000);
  const { data } = (await service.create(native, plainRequest)).json;
  assert.deepEqual(Object.keys(data), ['taskId', 'creditsCharged']);
});

test('403 the dialect gives no scope that the key has not', async () => {
  const { kie } = await newAccount(10, ['tasks:write']);
  assertRefused(await get(kie, '/api/v1/chat/credit'), 403, /credits:read/);
  assertRefused(await post(kie, '/api/v1/common/download-url', { url: 'x' }), 403, /tasks:read/);
});

test('what that API does not have answers such a key as it answers any other', async () => {
  const { kie } = await newAccount(777);
  const taskId = await createdBy(kie);
  assert.equal((await get(kie, '/api/v1/credits')).json.data['balance'], 777 - 165);
  const { data } = (await post(kie, '/api/v1/jobs/cancelTask', { taskId })).json;
  assert.equal(data['state'], 'fail');
});

test('a key that is rotated stays in its dialect', async () => {
  const { native, accountId } = await newAccount(1_000, [...ordinary, 'keys:write']);
  const { data } = (await get(native, '/api/v1/keys')).json;
  const listed = data['keys'] as { keyId: string; name: string }[]; // as declared
  const old = listed.find(({ name }) => name === 'their client');
  const rotated = await post(native, '/api/v1/keys/rotate', { keyId: old?.keyId });
  assert.equal(rotated.status, 200, rotated.bytes.toString());
  assert.equal(bare(await get(String(rotated.json.data['key']), '/api/v1/chat/credit')), await balanceOf(accountId));
});
