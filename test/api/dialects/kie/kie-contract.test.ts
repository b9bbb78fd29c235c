import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalogueOrThrow } from '../../../../src/catalogue/file/read-catalogue-file.ts';
import { markMediaDeleted } from '../../../../src/tasks/end/expired-media-rows.ts';
import { failAndRefund } from '../../../../src/tasks/end/end-task-statements.ts';
import { assertRefused } from '../../../support/service/http-client.ts';
import { startHttpService } from '../../../support/service/http-service.ts';
import { bare, request, useKie } from './kie-stage.ts';

const { service, newAccount, createdBy, record, balanceOf, post, get, succeeded } = useKie();

test('200 createTask answers the id; the model’s own price is charged', async () => {
  const { kie, accountId } = await newAccount();
  const answer = await service().create(kie, request);
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
  await service().database.db.run({ name: 'test-cost-time', text }, [taskId]);
  await succeeded(taskId);
  const milliseconds = Number((await record(native, taskId))['costTime']);
  assert.ok(milliseconds >= 7654, String(milliseconds));
  assert.equal((await record(kie, taskId))['costTime'], Math.floor(milliseconds / 1000));
});

test('200 a failed task has its code as text, has consumed nothing, and has no result', async () => {
  const { kie } = await newAccount();
  const taskId = await createdBy(kie);
  await failAndRefund(service().database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  const failed = await record(kie, taskId);
  assert.deepEqual(
    ['state', 'failCode', 'failMsg', 'resultJson', 'creditsConsumed'].map((name) => failed[name]),
    ['fail', 'timeout', 'It took too long.', '', 0],
  );
  assert.deepEqual([failed['successFlag'], failed['response']], [3, null]);
});

test('200 with Prefer: wait createTask answers the whole record, in the dialect too', async () => {
  const { kie } = await newAccount();
  const answer = await service().create(kie, request, { prefer: 'wait=1' });
  assert.equal(typeof answer.json.data['param'], 'string');
});

test('200 a record has the name of the create, also when that is a built-in alias of another model', async () => {
  const entry = { title: 'Ours', prices: [{ creditsPerSecond: 10 }] };
  const named = [{ model: 'bytedance/seedance-2', ...entry, aliases: ['house-model'] }];
  const file = { models: [...named, { model: 'videogen-2.0', ...entry }] };
  const catalogue = readCatalogueOrThrow({ path: 'models.json', readText: () => JSON.stringify(file) });
  const own = await startHttpService({ catalogue: () => catalogue, database: service().database });
  try {
    const { kie, native } = await newAccount();
    for (const model of ['bytedance/seedance-2', 'house-model']) {
      const created = await own.create(kie, { model, input: { prompt: 'A cat' } });
      assert.equal(created.status, 200, created.json.msg);
      const taskId = String(created.json.data['taskId']);
      assert.equal((await own.recordInfo(native, taskId)).json.data['model'], 'bytedance/seedance-2');
      assert.equal((await own.recordInfo(kie, taskId)).json.data['model'], model);
    }
  } finally {
    await own.close();
  }
});

test('422 names the fields as the client wrote them, and charges nothing', async () => {
  const { kie, accountId } = await newAccount();
  const answer = await service().create(kie, { model: 'veo3', input: { prompt: 'A cat', aspect_ratio: '2:1' } });
  const ratioRule = 'must be one of adaptive, 16:9, 9:16, 1:1, 4:3, 3:4, 21:9';
  const names = [...service().deps.catalogue().models.values()].flatMap(({ model, aliases = [] }) => [
    ...aliases,
    model,
  ]);
  const modelRule = `must be one of ${names.join(', ')}`;
  assertRefused(answer, 422, /^model: must be one of bytedance/, {
    errors: [
      { path: 'model', message: modelRule },
      { path: 'input.aspect_ratio', message: ratioRule },
    ],
  });
  assert.equal(await balanceOf(accountId), 10_000);
});

test('422 an unknown task, with the message that clients of that API expect; a native key gets 404', async () => {
  const { kie, native } = await newAccount();
  const stranger = await newAccount();
  const others = await createdBy(stranger.kie);
  for (const taskId of [others, 'task_12345', '019abc12-3456-7def-8901-234567890abc']) {
    const data = { errors: [{ path: 'taskId', message: 'recordInfo is null' }] };
    assertRefused(await service().recordInfo(kie, taskId), 422, /^recordInfo is null$/, data);
    assertRefused(await service().recordInfo(native, taskId), 404, /task not found/);
  }
});

test('402 and 401 are real statuses', async () => {
  const { kie } = await newAccount(100);
  assertRefused(await service().create(kie, request), 402, /balance/, { required: 165, balance: 100 });
  assert.equal((await service().create('no-such-key', request)).status, 401);
});

test('one Idempotency-Key is one task, also when it comes back in the other spelling', async () => {
  const { kie, native, accountId } = await newAccount();
  const headers = { 'idempotency-key': 'the-same-order' };
  const theirs = { ...request, input: { prompt: 'A cat', aspect_ratio: '9:16', generate_audio: false } };
  const first = await service().create(kie, { ...theirs, callbackUrl: 'stray' }, headers);
  const again = await service().create(kie, theirs, headers);
  const input = { prompt: 'A cat', ratio: '9:16', generateAudio: false };
  const ours = await service().create(native, { model: 'videogen-2.0-fast', input }, headers);
  const { taskId } = first.json.data;
  assert.equal(typeof taskId, 'string', first.json.msg);
  assert.deepEqual([again.json.data['taskId'], ours.json.data['taskId']], [taskId, taskId]);
  assert.equal(ours.headers['idempotency-replayed'], 'true');
  assert.equal(await balanceOf(accountId), 10_000 - 165);
  const other = await service().create(kie, { ...theirs, input: { prompt: 'A cat', aspect_ratio: '1:1' } }, headers);
  assertRefused(other, 409, /Idempotency-Key/);
});

test('200 chat/credit answers the balance as a bare number', async () => {
  const { kie } = await newAccount(4321);
  assert.equal(bare(await get(kie, '/api/v1/chat/credit')), 4321);
});

test('200 download-url makes a fresh link of an old one, with any signature and host', async () => {
  const { kie } = await newAccount();
  const taskId = await createdBy(kie);
  await succeeded(taskId);
  const path = `/media/results/${taskId}/video.mp4`;
  for (const url of [`http://media.test${path}?expires=1&signature=gone`, `https://old-host.test/bucket${path}`]) {
    const link = bare(await post(kie, '/api/v1/common/download-url', { url, extra: true }));
    assert.ok(String(link).startsWith(`http://media.test${path}?expires=`), String(link));
  }
});

test('422 download-url refuses anything but a video of the caller', async () => {
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

test('410 download-url for a video that was deleted', async () => {
  const { kie } = await newAccount();
  const taskId = await createdBy(kie);
  await succeeded(taskId);
  await markMediaDeleted(service().database.db, taskId);
  const url = `http://media.test/media/results/${taskId}/video.mp4`;
  assertRefused(await post(kie, '/api/v1/common/download-url', { url }), 410, /was deleted/);
  assert.equal((await record(kie, taskId))['resultJson'], '{"resultUrls":[]}');
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
