import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createKeyUnchecked } from '../../../../src/accounts/keys/keys.ts';
import { findDelivery } from '../../../../src/tasks/callbacks/deliveries.ts';
import { callbackFormatOf } from '../../../../src/api/dialects/shapes.ts';
import { signWebhook } from '../../../../src/platform/outbound/webhook-signature.ts';
import { markMediaDeleted } from '../../../../src/tasks/end/expired-media-rows.ts';
import { taskRecord } from '../../../../src/tasks/public-record.ts';
import { completeTask, failAndRefund } from '../../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../../src/tasks/task-rows.ts';
import { catalogueOf, type HttpService, startHttpService } from '../../../support/service/http-service.ts';
import { isObject } from '../../../support/service/http-client.ts';
import { madeUpMeasures } from '../../../support/tasks/tasks.ts';
import { dataUrl } from '../data-url.ts';
import { assertFailure, testCreateFailures } from '../shape-failures.ts';
import { image, plain, refused, rich, smallest, standard, translated } from './openrouter-samples.ts';

let service: HttpService;
let account: { accountId: string; key: string };
before(async () => {
  const catalogue = catalogueOf([rich, plain]);
  service = await startHttpService({ catalogue: () => catalogue });
  account = await service.newAccount(1_000_000);
});
after(() => service.close());

type Sent = { readonly key?: string; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

async function send(method: string, path: string, { key = account.key, body, headers = {} }: Sent = {}) {
  const answer = await service.send(method, path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const json: unknown = answer.bytes.length === 0 ? {} : JSON.parse(answer.bytes.toString());
  assert.ok(isObject(json));
  const { status, headers: answerHeaders, bytes } = answer;
  return { status, headers: answerHeaders, bytes, body: json };
}

const videos = '/api/v1/videos';
const create = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send('POST', videos, { body, headers });
const read = (id: string) => send('GET', `${videos}/${id}`);
const content = (id: string, query = '') =>
  service.send('GET', `${videos}/${id}/content${query}`, { headers: { authorization: `Bearer ${account.key}` } });

async function created(body: object = smallest): Promise<string> {
  const answer = await create(body);
  assert.equal(answer.status, 202, answer.bytes.toString());
  return String(answer.body['id']);
}

async function completed(id: string): Promise<void> {
  const [videoKey, posterKey] = [`results/${id}/video.mp4`, `results/${id}/poster.jpg`];
  await completeTask(service.database.db, id, { ...madeUpMeasures, videoKey, posterKey });
}

async function stored(id: string) {
  const task = await findTask(service.database.db, id);
  assert.ok(task);
  return task;
}

test('202 a create is charged and answers a job that is polled until it is completed', async () => {
  const { status, body } = await create(smallest);
  const id = String(body['id']);
  const pending = { id, polling_url: `http://media.test${videos}/${id}`, status: 'pending' };
  assert.deepEqual([status, body], [202, pending]);
  assert.deepEqual((await read(id)).body, pending);
  await service.database.db.run({ name: 'test-begin', text: `update tasks set state = 'generating' where id = $1` }, [
    id,
  ]);
  assert.deepEqual((await read(id)).body, { ...pending, status: 'in_progress' });
  await completed(id);
  const done = (await read(id)).body;
  const links = done['unsigned_urls'];
  assert.ok(Array.isArray(links) && String(links[0]).startsWith(`http://media.test/media/results/${id}/video.mp4?`));
  const usage = { is_byok: false, credits: 5 * 41 };
  assert.deepEqual(done, { ...pending, status: 'completed', urls: links, unsigned_urls: links, usage });
});

test('200 a failed job has a message and our code; a cancelled one is cancelled; neither has cost anything', async () => {
  for (const [failCode, status] of [
    ['timeout', 'failed'],
    ['cancelled', 'cancelled'],
  ] as const) {
    const id = await created();
    await failAndRefund(service.database.db, id, { failCode, failMsg: 'It ended.' });
    const { body } = await read(id);
    assert.deepEqual([body['status'], body['error'], body['usage']], [status, `It ended. (${failCode})`, undefined]);
  }
});

for (const [what, [body, expected]] of Object.entries(translated)) {
  test(`202 a request with ${what}`, async () => {
    const { param } = await stored(await created({ ...smallest, ...body }));
    const standardInput = (await stored(await created())).param.input;
    // A task without a seed gets one.
    const { seed: _seed, ...others } = standardInput;
    const { seed, ...given } = param.input;
    assert.deepEqual('seed' in expected ? { ...given, seed } : given, { ...others, ...expected });
  });
}

for (const [what, [body, path, message]] of Object.entries(refused)) {
  test(`422 ${what} is refused in OpenRouter's spelling, and nothing is charged`, async () => {
    const { accountId, key } = await service.newAccount(1000);
    const { status, body: answer } = await send('POST', videos, { key, body: { ...smallest, ...body } });
    const { error } = answer as { error: { code: number; message: string; metadata: Record<string, unknown> } }; // or the next lines fail
    assert.deepEqual([status, error.code, error.metadata['error_code']], [422, 422, 'invalid_request']);
    const [first, ...others] = error.metadata['errors'] as { path: string; message: string }[]; // or the next lines fail
    assert.deepEqual([first?.path, others], [path, []], JSON.stringify(answer));
    assert.match(String(first?.message), message);
    assert.equal(error.message, `${path}: ${first?.message}`);
    const text = 'select count(*)::int as tasks from tasks where account_id = $1';
    assert.deepEqual(await service.database.db.run({ name: 'test-count', text }, [accountId]), [{ tasks: 0 }]);
  });
}

test('202 a file in a data URL becomes an upload, the same one for the same file, so that a repeat is the same request', async () => {
  const body = { ...smallest, input_references: [{ ...image, image_url: { url: await dataUrl() } }] };
  const headers = { 'idempotency-key': 'the-same-file' };
  const [first, again] = [await create(body, headers), await create(body, headers)];
  assert.equal(first.status, 202, first.bytes.toString());
  assert.deepEqual([again.body, again.headers['idempotency-replayed']], [{ ...first.body, replayed: true }, 'true']);
  const [url] = (await stored(String(first.body['id']))).param.input.imageUrls;
  assert.match(String(url), /^http:\/\/media\.test\/media\/uploads\//);
});

describe('what has no content', () => {
  test('422 an index other than 0, because a job has one video', async () => {
    assertFailure(await content(await created(), '?index=1'), 'invalid_request');
  });

  test('409 a job that has not ended or has failed, and 410 one whose video was deleted', async () => {
    const [running, failed, deleted] = [await created(), await created(), await created()];
    await failAndRefund(service.database.db, failed, { failCode: 'timeout', failMsg: 'It took too long.' });
    await completed(deleted);
    await markMediaDeleted(service.database.db, deleted);
    assertFailure(await content(running), 'task_not_finished');
    assertFailure(await content(failed), 'task_failed');
    assertFailure(await content(deleted), 'media_deleted');
    assert.deepEqual((await read(deleted)).body['unsigned_urls'], []);
  });

  test('404 a job of another account, and an unknown id', async () => {
    const stranger = await service.newAccount(0);
    for (const id of [await created(), 'gen-vid-1']) {
      for (const path of [`${videos}/${id}`, `${videos}/${id}/content`])
        assertFailure(await send('GET', path, { key: stranger.key }), 'task_not_found');
    }
  });
});

test('200 the models, at a path beside those of jobs, have what each takes and costs', async () => {
  const { status, body } = await send('GET', `${videos}/models`);
  const [first, second] = body['data'] as Record<string, unknown>[]; // or the next lines fail
  assert.equal(status, 200);
  assert.deepEqual(first, {
    id: 'studio/rich',
    canonical_slug: 'rich',
    name: standard.title,
    created: 0,
    supported_resolutions: ['720p', '2K', '4K'],
    supported_aspect_ratios: ['adaptive', '16:9', '9:16'],
    supported_sizes: ['1280x720', '720x1280', '2560x1440', '1440x2560', '3840x2160', '2160x3840'],
    supported_durations: [5, 10],
    supported_frame_images: ['first_frame', 'last_frame'],
    generate_audio: true,
    seed: true,
    pricing_skus: { credits_per_second: '41' },
    allowed_passthrough_parameters: ['negative_prompt', 'cameraFixed', 'style'],
    creativity: null,
    upscale_factor: null,
  });
  const { supported_frame_images, generate_audio, seed, allowed_passthrough_parameters } = second ?? {};
  assert.deepEqual(
    [supported_frame_images, generate_audio, seed, allowed_passthrough_parameters],
    [[], false, false, []],
  );
});

test('200 the prices of a model are those in force, each amount with its unit and the name of its condition', async (t) => {
  const rate = { creditsPerSecond: 41, creditsPerVideo: 5, fromMs: 0 };
  const prices = [
    { name: '4K', when: { resolution: '2160p' }, amounts: [{ ...rate, creditsPerSecond: 80, creditsPerVideo: 0 }] },
    { name: 'later', when: { generateAudio: true }, amounts: [{ ...rate, fromMs: Date.now() + 3_600_000 }] },
    {
      name: 'standard',
      when: {},
      amounts: [rate, { ...rate, creditsPerVideo: 6, fromMs: 1_000 }, { ...rate, fromMs: Date.now() + 3_600_000 }],
    },
  ] as const;
  const catalogue = catalogueOf([{ ...rich, prices }]);
  const priced = await startHttpService({ database: service.database, catalogue: () => catalogue });
  t.after(() => priced.close());
  const headers = { authorization: `Bearer ${account.key}` };
  const { bytes } = await priced.send('GET', `${videos}/models`, { headers });
  const { data } = JSON.parse(bytes.toString()) as { data: readonly { pricing_skus: unknown }[] }; // the documented shape
  assert.deepEqual(
    data.map((one) => one.pricing_skus),
    [{ '4K: credits_per_second': '80', credits_per_second: '41', credits_per_video: '6' }],
  );
});

test('every value that a model lists is accepted', async () => {
  const { body } = await send('GET', `${videos}/models`);
  for (const model of body['data'] as Record<string, unknown>[]) {
    for (const [list, field] of [
      ['supported_resolutions', 'resolution'],
      ['supported_aspect_ratios', 'aspect_ratio'],
      ['supported_sizes', 'size'],
      ['supported_durations', 'duration'],
    ] as const) {
      for (const value of model[list] as unknown[])
        await created({ model: model['id'], prompt: 'A lighthouse', [field]: value });
    }
  }
});

test('any key of the account works, also one of the dialect kie', async () => {
  const { accountId } = account;
  const scopes = ['tasks:write', 'tasks:read'] as const;
  const kie = await createKeyUnchecked(service.database.db, { accountId, name: 'theirs', scopes, dialect: 'kie' });
  assert.ok(kie);
  const made = await send('POST', videos, { key: kie.key, body: smallest });
  assert.equal(made.status, 202);
  assert.deepEqual((await send('GET', `${videos}/${String(made.body['id'])}`, { key: kie.key })).body, made.body);
});

test('only paths of videos get errors in this form', async () => {
  for (const [method, path, failure] of [
    ['GET', `${videos}/x/y/z`, 'unknown_endpoint'],
    ['GET', videos, 'method_not_allowed'],
    ['DELETE', `${videos}/x`, 'method_not_allowed'],
  ] as const) {
    const { error } = (await send(method, path)).body as { error: { code: number; metadata: object } }; // or the next line fails
    assert.deepEqual(error.metadata, { error_code: failure });
  }
  for (const path of ['/api/v1/videosx', '/api/v1/x'])
    assert.equal((await service.send('GET', path)).json.error, 'unknown_endpoint');
  assert.equal((await send('GET', '/api/v1/models')).body['msg'], 'success');
});

test('the callback is the event that OpenRouter documents, with its signature beside our own', async () => {
  const id = await created({ ...smallest, callback_url: 'https://client.example/done' });
  assert.equal((await findDelivery(service.database.db, id))?.dialect ?? 'openrouter', 'openrouter');
  await completed(id);
  assert.equal((await findDelivery(service.database.db, id))?.dialect, 'openrouter');
  const format = callbackFormatOf('openrouter');
  const task = await stored(id);
  const record = taskRecord(task, 100, { resultUrls: ['https://videos.example/1'] });
  const body = format.callbackBody(record, service.deps.catalogue().models);
  assert.deepEqual(JSON.parse(body), {
    type: 'video.generation.completed',
    created_at: new Date(task.completedAt ?? 0).toISOString(),
    data: {
      id,
      model: 'studio/rich',
      status: 'completed',
      urls: ['https://videos.example/1'],
      unsigned_urls: ['https://videos.example/1'],
      usage: { is_byok: false, credits: 205 },
    },
  });
  const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = format.callbackHeaders({ taskId: id, timestampSeconds, secrets, body });
  const expected = createHmac('sha256', secrets[0] ?? '')
    .update(`${timestampSeconds},${body}`)
    .digest('hex');
  assert.equal(headers['x-openrouter-signature'], `t=${timestampSeconds},v1=${expected}`);
  assert.ok(headers['x-openrouter-idempotency-key']);
  new Webhook(secrets[0] ?? '').verify(body, signWebhook({ id: 'msg_1', timestampSeconds, body, secrets }));
});

describe('the failures of a create', () => {
  testCreateFailures({
    path: videos,
    success: 202,
    body: (prompt, url) => ({
      model: 'bytedance/seedance-2',
      prompt,
      ...(url !== undefined && { input_references: [{ type: 'image_url', image_url: { url } }] }),
    }),
  });
});
