import type { JsonObject } from '../../../src/platform/text/json.ts';
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import type { UpstreamAnswer, UpstreamClient } from '../../../src/providers/provider-contract.ts';
import type { ProviderFile } from '../../../src/catalogue/providers/provider-file-schema.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { jobOf, jobRequest, lostCall, signal, statusOf } from '../contract/job-request.ts';
import { answering } from '../loopback-client.ts';
import { httpProvider, shippedFile } from './shipped-file.ts';

const request = jobRequest();
const job = jobOf(request, 'job-1');

type Asked = { readonly method: string; readonly path: string; readonly body: unknown };

/** An upstream that gives one answer to everything, and what it was asked. */
function recording(status: number, body: JsonObject) {
  const asked: Asked[] = [];
  const always = answering(status, body);
  const client: UpstreamClient = {
    ...always,
    call: async (method, path, options) => {
      asked.push({ method, path, body: JSON.parse(String(options.body?.bytes ?? 'null')) });
      return await always.call(method, path, options);
    },
  };
  return { client, asked };
}

describe('a create by a file', () => {
  test("sends parameters of the catalogue, and no address of the client's", async () => {
    const { client, asked } = recording(201, { id: 'job-1' });
    const input = withDefaults({ prompt: 'like @image1', imageUrls: ['https://client.example/a.png'] });
    const imageLinks = ['https://videogen.example/1'];
    const provider = httpProvider(shippedFile('replicate-seedance'), client, { parameters: { seed: 7 } });
    await provider.submit(jobRequest({ input, imageLinks }), signal);
    assert.deepEqual(asked, [
      {
        method: 'POST',
        path: '/models/bytedance/seedance-2.0-fast/predictions',
        body: {
          input: {
            prompt: 'like [Image1]',
            reference_images: ['https://videogen.example/1'],
            duration: 5,
            resolution: '720p',
            aspect_ratio: '16:9',
            generate_audio: true,
            seed: 7,
          },
        },
      },
    ]);
  });

  test('holds an image as a data URL, however large', async (t) => {
    const path = join(await temporaryFolder(t), 'image-0.jpg');
    const jpeg = Buffer.alloc(3_000_000, 'not decoded here');
    await writeFile(path, jpeg);
    const { client, asked } = recording(200, { code: 0, data: { task_id: 'job-1' } });
    const input = withDefaults({ prompt: '\u0001images 0 url', imageUrls: ['https://client.example/a.png'] });
    const images = [{ path, widthPx: 900, heightPx: 1600 }];
    await httpProvider(shippedFile('kling'), client).submit(jobRequest({ input, images }), signal);
    const body = asked[0]?.body as { readonly image: string; readonly prompt: string }; // what the next lines check
    assert.equal(body.image, jpeg.toString('base64'));
    assert.equal(body.prompt, '\u0001images 0 url');
  });

  test('whose expression has no value sends nothing, and waits for the operator', async () => {
    const { client, asked } = recording(200, {});
    for (const path of ['nothing', "'relative'", '$number(model)', "'/a b'"]) {
      const file = shippedFile('kie');
      const broken = shippedFile('kie', { create: { ...textsOf(file), path } });
      const outcome = await httpProvider(broken, client).submit(request, signal);
      assert.equal(outcome.kind === 'not_accepted' && outcome.reason, 'operator', path);
    }
    assert.deepEqual(asked, []);
  });

  const cases: readonly (readonly [file: string, status: number, body: JsonObject, expected: object])[] = [
    ['kie', 200, { code: 429, msg: 'slow' }, { kind: 'not_accepted', reason: 'busy' }],
    ['kie', 429, { code: 429, msg: 'slow' }, { kind: 'not_accepted', reason: 'busy', retryAfterMs: 9000 }],
    [
      'kie',
      200,
      { code: 422, msg: 'bad' },
      { kind: 'refused', error: { kind: 'input', code: '422', detail: 'HTTP 200: {"code":422,"msg":"bad"}' } },
    ],
    ['kie', 200, { code: 501, msg: 'failed', data: { taskId: 'x' } }, { kind: 'unknown' }],
    ['kie', 200, { code: 200, msg: 'success', data: {} }, { kind: 'unknown' }],
    ['kie', 500, { code: 422, msg: 'bad' }, { kind: 'unknown' }],
    ['kie', 503, { code: 429, msg: 'slow' }, { kind: 'unknown' }],
    ['minimax', 502, { base_resp: { status_code: 1002, status_msg: 'slow' } }, { kind: 'unknown' }],
    [
      'minimax',
      200,
      { base_resp: { status_code: 1002, status_msg: 'slow' } },
      { kind: 'not_accepted', reason: 'busy' },
    ],
    ['replicate-seedance', 201, { id: 17 }, { kind: 'accepted', id: '17' }],
    ['replicate-seedance', 500, { detail: 'input is sensitive' }, { kind: 'unknown' }],
    [
      'replicate-seedance',
      422,
      { error: 'a proxy that says nothing' },
      { kind: 'refused', error: { kind: 'input', detail: 'HTTP 422: {"error":"a proxy that says nothing"}' } },
    ],
    ['replicate-seedance', 422, {}, { kind: 'unknown' }],
    ['replicate-seedance', 404, { detail: 'no such model' }, { kind: 'not_accepted', reason: 'operator' }],
    ['fal-seedance', 200, { request_id: 'x', status_url: 'y'.repeat(5000) }, { kind: 'unknown' }],
    [
      'kling',
      429,
      { code: 1102, message: 'out of credit' },
      { kind: 'not_accepted', reason: 'operator', retryAfterMs: 9000 },
    ],
  ];
  for (const [name, status, body, expected] of cases) {
    test(`at ${name} that gets ${status} ${JSON.stringify(body).slice(0, 60)} is ${JSON.stringify(expected)}`, async () => {
      const headers: UpstreamAnswer['headers'] = status === 429 ? { 'retry-after': '9' } : {};
      const provider = httpProvider(shippedFile(name), answering(status, body, headers));
      const detail = `HTTP ${status}: ${JSON.stringify(body)}`;
      const isWhole = 'id' in expected || 'error' in expected;
      assert.deepEqual(await provider.submit(request, signal), isWhole ? expected : { ...expected, detail });
    });
  }
});

test('a lost job is the one of its prompt and time that no other row has', async () => {
  const item = (id: string, createdAt: number) => ({
    id,
    input: { prompt: request.input.prompt },
    created_at: new Date(createdAt).toISOString(),
  });
  const [now, before] = [Date.now(), Date.now() - 600_000];
  const results = [item('ours', now), item('theirs', now), item('old', before)];
  const provider = httpProvider(shippedFile('replicate-seedance'), answering(200, { results }));
  const lost = lostCall(request, { intendedAt: now - 300_000, claimed: async () => new Set(['theirs']) });
  assert.deepEqual(await provider.recover(lost, signal), { kind: 'found', id: 'ours' });
});

test('a lost job is found with its handle, in a list that is complete', async () => {
  const found = async (body: JsonObject, id = 'body.ids') => {
    const find = { path: "'/jobs'", id, handle: 'body.handle', complete: 'body.whole' };
    return await httpProvider(shippedFile('kie', { find }), answering(200, body)).recover(lostCall(request), signal);
  };
  const [ids, handle] = [['7', null, ''], { at: 'x' }];
  assert.deepEqual(await found({ ids, handle, whole: true }), { kind: 'found', id: '7', handle });
  assert.deepEqual(await found({ id: 7, handle: 'x', whole: true }, 'body.id'), { kind: 'found', id: '7' });
  for (const whole of [false, 'true', null])
    assert.deepEqual(await found({ ids, handle, whole }), { kind: 'later', afterMs: 15_000 });
});

test('a lost job has no list yet where the answer to its own address is 404, and any other 404 proves nothing', async () => {
  for (const [path, status, afterMs] of [
    ["'/jobs?name=' & jobKey", 404, 2_000],
    ["'/jobs?name=' & jobKey", 403, 15_000],
    ["'/jobs'", 404, 15_000],
  ] as const) {
    const file = shippedFile('kie', { find: { path, id: 'body.ids' } });
    const found = await httpProvider(file, answering(status, {})).recover(lostCall(request), signal);
    assert.deepEqual(found, { kind: 'later', afterMs }, `${status} ${path}`);
  }
});

describe('a status request', () => {
  const openrouter = async (body: JsonObject) =>
    await statusOf(httpProvider(shippedFile('openrouter'), answering(200, body)), job);

  test('reads a cost that is a number of at least zero, also of a job that succeeded', async () => {
    const url = 'https://vendor.example/1.mp4';
    for (const [stated, micros] of [
      [0.25, 250_000],
      ['0.25', 250_000],
      [0, 0],
      [-0.25, undefined],
      ['free', undefined],
      [1e300, undefined],
    ] as const) {
      const status = await openrouter({ status: 'completed', unsigned_urls: [url], usage: { cost: stated } });
      const cost = micros === undefined ? {} : { cost: { micros, currency: 'USD', basis: 'reported' } };
      assert.deepEqual(status, { state: 'succeeded', result: { url }, ...cost });
    }
  });

  test('reads a progress of 0 to 100', async () => {
    for (const [progress, read] of [
      [-1, undefined],
      [0, 0],
      ['45', 45],
      [100, 100],
      [101, undefined],
      ['soon', undefined],
    ] as const) {
      const provider = httpProvider(
        shippedFile('kie'),
        answering(200, { code: 200, data: { state: 'generating', progress } }),
      );
      const running = { state: 'running', ...(read !== undefined && { progress: read }) };
      assert.deepEqual(await statusOf(provider, job), running);
    }
  });

  test('that ends it reads the cost that is stated', async () => {
    const body = { status: 'failed', error: 'oh', usage: { cost: 0.1234567 } };
    const status = await statusOf(httpProvider(shippedFile('openrouter'), answering(200, body)), job);
    const cost = { micros: 123_457, currency: 'USD', basis: 'reported' };
    assert.deepEqual(status, { state: 'failed', error: { kind: 'upstream', detail: 'oh' }, cost });
  });

  test('with an unknown state is logged once, and the job continues', async () => {
    const told: string[] = [];
    const warn = (event: string, detail: string) => void told.push(`${event}: ${detail}`);
    const provider = httpProvider(shippedFile('kie'), answering(200, { data: { state: 'resting' } }), { warn });
    for (let times = 0; times < 2; times++) assert.deepEqual(await statusOf(provider, job), { state: 'running' });
    assert.deepEqual(told, ['provider state unknown: resting']);
  });

  test('whose answer breaks an expression is no verdict, and is logged once', async () => {
    const told: string[] = [];
    const warn = (event: string, detail: string) => void told.push(`${event}: ${detail}`);
    const file = shippedFile('kie', {
      status: { path: "'/x'", state: '$number(body.a)', states: { ok: 'succeeded' } },
    });
    const provider = httpProvider(file, answering(200, { a: 'secret' }), { warn });
    for (let times = 0; times < 2; times++) assert.equal((await statusOf(provider, job)).state, 'unclear');
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /^provider expression failed: status\.state: at character \d+: failed/);
  });
});

describe('the media that a file gets', () => {
  const file = shippedFile('kie');
  const mediaOf = (json: string, changes: object = {}) => {
    const create = { ...textsOf(file), path: "'/x'", json };
    const { images, clips } = httpProvider(shippedFile('kie', { create, ...changes }), answering(200, {}));
    return { images, clips };
  };

  for (const [json, clips] of [
    ["{'v': videos}", 'link'],
    ["{'a': audios}", 'link'],
    ["{'v': videos, 'a': audios}", 'link'],
    ["{'i': images}", 'file'],
    ["{'p': input.prompt}", 'file'],
  ] as const)
    test(`are clips as ${clips}s where its request is ${json}`, () => {
      assert.equal(mediaOf(json, { clips: 'link' }).clips, clips);
      assert.equal(mediaOf(json, { clips: 'data-url' }).clips, 'file');
    });

  test('are images as links only if it says so', () => {
    assert.equal(mediaOf("{'i': images}", { images: 'link' }).images, 'link');
    assert.equal(mediaOf("{'i': images}", { images: 'data-url' }).images, 'file');
  });
});

/** The expressions of `create` as they stand in the file. */
function textsOf({ create }: ProviderFile) {
  return { json: create.json.text, id: create.id.text };
}
