import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { withDefaults } from '../../../src/tasks/task-input.ts';
import type { JsonObject, UpstreamAnswer, UpstreamClient } from '../../../src/providers/contract.ts';
import { createHttpProvider, type HttpProviderDeps } from '../../../src/providers/http/http-provider.ts';
import type { ProviderFile } from '../../../src/providers/http/file-schema.ts';
import { jobOf, jobRequest } from '../job-request.ts';
import { shippedFile } from './shipped-file.ts';

const { signal } = new AbortController();
const request = jobRequest();
const job = jobOf(request, 'job-1');

function providerOf(file: ProviderFile, client: UpstreamClient, changes: Partial<HttpProviderDeps> = {}) {
  const { baseUrl, model } = file.example;
  return createHttpProvider({
    name: 'hosted',
    config: { kind: 'http', baseUrl, upstreamModel: model, options: { parameters: { seed: 7 } } },
    file,
    client,
    submitTimeoutMs: 60_000,
    pollsPerSecond: 14,
    warn: () => undefined,
    ...changes,
  });
}

type Asked = { readonly method: string; readonly path: string; readonly body: unknown };

/** An upstream that gives its answers in order, and the last one again and again. */
function answering(...answers: readonly (readonly [status: number, body: JsonObject])[]) {
  const asked: Asked[] = [];
  const client: UpstreamClient = {
    call: async (method, path, { body }) => {
      const [status, answer] = answers[asked.length] ?? answers.at(-1) ?? [500, {}];
      asked.push({ method, path, body: body === undefined ? undefined : JSON.parse(String(body.bytes)) });
      const headers: UpstreamAnswer['headers'] = status === 429 ? { 'retry-after': '9' } : {};
      return { status, headers, body: Buffer.from(JSON.stringify(answer)) };
    },
    download: async () => undefined,
  };
  return { client, asked };
}

describe('a create by a file', () => {
  test("sends parameters of the catalogue, and no address of the client's", async () => {
    const { client, asked } = answering([201, { id: 'job-1' }]);
    const input = withDefaults({ prompt: 'like @image1', imageUrls: ['https://client.example/a.png'] });
    const imageLinks = ['https://videogen.example/1'];
    await providerOf(shippedFile('replicate-seedance'), client).submit(jobRequest({ input, imageLinks }), signal);
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
    const folder = await mkdtemp(join(tmpdir(), 'videogen-http-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'image-0.jpg');
    const jpeg = Buffer.alloc(3_000_000, 'not decoded here');
    await writeFile(path, jpeg);
    const { client, asked } = answering([200, { code: 0, data: { task_id: 'job-1' } }]);
    const input = withDefaults({ prompt: '\u0001image 0 url', imageUrls: ['https://client.example/a.png'] });
    const images = async () => [{ path, widthPx: 900, heightPx: 1600 }];
    await providerOf(shippedFile('kling'), client).submit(jobRequest({ input, images }), signal);
    const body = asked[0]?.body as { readonly image: string; readonly prompt: string }; // what the next lines check
    assert.equal(body.image, jpeg.toString('base64'));
    assert.equal(body.prompt, '\u0001image 0 url');
  });

  test('whose expression has no value sends nothing, and waits for the operator', async () => {
    const { client, asked } = answering([200, {}]);
    for (const path of ['nothing', "'relative'", '$number(model)', "'/a b'"]) {
      const file = shippedFile('kie');
      const broken = shippedFile('kie', { create: { ...textsOf(file), path } });
      const outcome = await providerOf(broken, client).submit(request, signal);
      assert.equal(outcome.kind === 'not_accepted' && outcome.reason, 'operator', path);
    }
    assert.deepEqual(asked, []);
  });

  const cases: readonly (readonly [file: string, status: number, body: JsonObject, expected: object])[] = [
    ['kie', 200, { code: 429, msg: 'slow' }, { kind: 'not_accepted', reason: 'busy' }],
    ['kie', 429, { code: 429, msg: 'slow' }, { kind: 'not_accepted', reason: 'busy', retryAfterMs: 9000 }],
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
    ['replicate-seedance', 201, { id: '' }, { kind: 'unknown' }],
    ['replicate-seedance', 201, { id: 'x'.repeat(4097) }, { kind: 'unknown' }],
    ['replicate-seedance', 201, { id: 17 }, { kind: 'accepted', id: '17' }],
    ['replicate-seedance', 408, { detail: 'input' }, { kind: 'unknown' }],
    ['replicate-seedance', 500, { detail: 'input is sensitive' }, { kind: 'unknown' }],
    ['replicate-seedance', 422, { error: 'a proxy that says nothing' }, { kind: 'refused' }],
    ['replicate-seedance', 422, {}, { kind: 'unknown' }],
    ['replicate-seedance', 404, { detail: 'no such model' }, { kind: 'not_accepted', reason: 'operator' }],
    ['fal-seedance', 200, { request_id: 'x', status_url: 'y'.repeat(5000) }, { kind: 'unknown' }],
    ['kling', 429, { code: 1102, message: 'out of credit' }, { kind: 'not_accepted', reason: 'operator' }],
    ['runway', 503, { error: 'down' }, { kind: 'unknown' }],
  ];
  for (const [name, status, body, expected] of cases) {
    test(`at ${name} that gets ${status} ${JSON.stringify(body).slice(0, 60)} is ${JSON.stringify(expected)}`, async () => {
      const outcome = await providerOf(shippedFile(name), answering([status, body]).client).submit(request, signal);
      assert.deepEqual({ ...outcome, ...expected }, outcome);
    });
  }
});

describe('a lost job', () => {
  const file = shippedFile('replicate-seedance');
  const item = (id: string, createdAt: number) => ({
    id,
    input: { prompt: request.input.prompt },
    created_at: new Date(createdAt).toISOString(),
  });
  const lost = {
    ...request,
    intendedAt: Date.now() - 300_000,
    claimed: async () => new Set(['theirs']),
    rivals: 0,
  };
  const recover = (results: readonly JsonObject[], changes: Partial<typeof lost> = {}) =>
    providerOf(file, answering([200, { results }]).client).recover({ ...lost, ...changes }, signal);
  const [now, before] = [Date.now(), Date.now() - 600_000];

  test('is the one of its prompt that nobody claims', async () => {
    const found = await recover([item('ours', now), item('theirs', now), item('old', before)]);
    assert.deepEqual(found, { kind: 'found', id: 'ours' });
  });
  test('is unknown when two may be it, or another one of ours is lost, too', async () => {
    assert.equal((await recover([item('a', now), item('b', now)])).kind, 'unknown');
    assert.equal((await recover([item('a', now)], { rivals: 1 })).kind, 'unknown');
  });
  test('is looked for again for as long as a list may lag', async () => {
    assert.equal((await recover([], { intendedAt: Date.now() })).kind, 'later');
    assert.equal((await recover([])).kind, 'unknown');
  });
});

describe('a question about a job', () => {
  test('that ends it reads the cost that is stated', async () => {
    const body = { status: 'failed', error: 'oh', usage: { cost: 0.1234567 } };
    const statuses = await providerOf(shippedFile('openrouter'), answering([200, body]).client).status([job], signal);
    const cost = { micros: 123_457, currency: 'USD', basis: 'reported' };
    assert.deepEqual(statuses.get(job.jobKey), { state: 'failed', error: { kind: 'upstream', detail: 'oh' }, cost });
  });

  test('with a strange word is told once, and the job goes on', async () => {
    const told: string[] = [];
    const warn = (event: string, detail: string) => void told.push(`${event}: ${detail}`);
    const provider = providerOf(shippedFile('kie'), answering([200, { data: { state: 'resting' } }]).client, { warn });
    for (let times = 0; times < 2; times++)
      assert.deepEqual((await provider.status([job], signal)).get(job.jobKey), { state: 'running' });
    assert.deepEqual(told, ['provider state unknown: resting']);
  });

  test('whose answer breaks an expression is no verdict, and is told once', async () => {
    const told: string[] = [];
    const warn = (event: string, detail: string) => void told.push(`${event}: ${detail}`);
    const file = shippedFile('kie', {
      status: { path: "'/x'", state: '$number(body.a)', states: { ok: 'succeeded' } },
    });
    const provider = providerOf(file, answering([200, { a: 'secret' }]).client, { warn });
    for (let times = 0; times < 2; times++)
      assert.equal((await provider.status([job], signal)).get(job.jobKey)?.state, 'unclear');
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /^provider expression failed: status\.state: at character \d+: failed/);
  });
});

/** The expressions of `create` as they stand in the file. */
function textsOf({ create }: ProviderFile) {
  return { json: create.json.text, id: create.id.text };
}
