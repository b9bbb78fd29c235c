import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDelivery } from '../../../../src/tasks/callbacks/deliveries.ts';
import { assertRefused } from '../../../support/service/http-client.ts';
import { plainRequest } from '../../../support/service/http-service.ts';
import { bare, ordinary, request, useKie } from './kie-stage.ts';

const { service, newAccount, createdBy, record, balanceOf, post, get, succeeded } = useKie();

const howTo = /dialect kie.*POST \/api\/v1\/keys \{"name": "…", "dialect": "kie"\}.*videogen key create --dialect kie$/;

test('the key that reads a task decides the shape, not the key that created it', async () => {
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
  const { db } = service().database;
  for (const [key, dialect, body] of [
    [kie, 'kie', request],
    [native, 'native', plainRequest],
  ] as const) {
    const taskId = await createdBy(key, { ...body, callBackUrl: 'https://client.example/done' });
    await succeeded(taskId);
    assert.equal((await findDelivery(db, taskId))?.dialect, dialect);
  }
});

test('a native key that sends such a request is refused with a message that names the dialect and how to get a key of it', async () => {
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
    const { status, json } = await service().create(native, body);
    assert.equal(status, 422);
    assert.match(json.msg, howTo, JSON.stringify(body));
  }
  const slip = await service().create(native, { ...plainRequest, input: { ...plain, promt: 'A cat' } });
  assert.doesNotMatch(slip.json.msg, /kie/);
  assertRefused(await get(native, '/api/v1/chat/credit'), 403, howTo);
  assertRefused(await post(native, '/api/v1/common/download-url', { url: 'x' }), 403, howTo);
  assert.equal(await balanceOf(accountId), 10_000);
});

test('200 any key reads and writes the native dialect if the header requests it, for that request alone', async () => {
  const { kie, native } = await newAccount();
  const headers = { 'videogen-dialect': 'native' };
  const created = await service().create(kie, plainRequest, headers);
  assert.deepEqual(Object.keys(created.json.data), ['taskId', 'creditsCharged']);
  const taskId = String(created.json.data['taskId']);
  const read = await service().send('GET', `/api/v1/jobs/recordInfo?taskId=${taskId}`, {
    headers: { authorization: `Bearer ${kie}`, ...headers },
  });
  assert.deepEqual(read.json.data, await record(native, taskId));
  assert.equal((await record(kie, taskId))['resultJson'], '');
  assert.equal((await service().create(kie, request, headers)).status, 422);
  assert.equal((await service().create(kie, request)).status, 200, 'the header is not stored with the key');
});

test('200 a key of the dialect is shown the callback secret, the key of its X-Webhook-Signature', async () => {
  const { kie } = await newAccount(0, ['callbacks:secret']);
  const { status, json } = await post(kie, '/api/v1/callbacks/secret', {});
  assert.equal(status, 200, json.msg);
  assert.match(String(json.data['secret']), /^whsec_/);
});

test('a native key gets nothing of the dialect: aliases, snake case and extras are refused', async () => {
  const { native, accountId } = await newAccount();
  const refused = [
    { ...plainRequest, model: 'bytedance/seedance-2-fast' },
    { ...plainRequest, callbackUrl: 'https://client.example/' },
    { ...plainRequest, input: { ...plainRequest.input, aspect_ratio: '9:16' } },
    { ...plainRequest, input: { ...plainRequest.input, callBackUrl: 'https://client.example/' } },
  ];
  for (const body of refused) assert.equal((await service().create(native, body)).status, 422);
  assert.equal(await balanceOf(accountId), 10_000);
  const { data } = (await service().create(native, plainRequest)).json;
  assert.deepEqual(Object.keys(data), ['taskId', 'creditsCharged']);
});

test('403 the dialect grants no scope that the key lacks', async () => {
  const { kie } = await newAccount(10, ['tasks:write']);
  assertRefused(await get(kie, '/api/v1/chat/credit'), 403, /credits:read/);
  assertRefused(await post(kie, '/api/v1/common/download-url', { url: 'x' }), 403, /tasks:read/);
});

test('endpoints that the other API lacks answer such a key like any other', async () => {
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
