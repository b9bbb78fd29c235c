import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createComfyV2Provider } from '../../../src/providers/comfy/comfy-v2-provider.ts';
import { createComfyuiProvider } from '../../../src/providers/comfy/comfyui-provider.ts';
import type { UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { jobOf, jobRequest, signal, statusOf } from '../contract/job-request.ts';
import { providerDeps } from '../loopback-client.ts';

// What the answers of both kinds of servers mean, one by one.

const request = jobRequest();
const { jobKey } = request;
const job = jobOf(request, jobKey);
const graph = { '1': { class_type: 'Text', inputs: { text: '{{prompt}}' } } };

type Answer = readonly [status: number, body: object];

/** A server that gives these answers to requests that begin so; the first match counts. */
function server(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = [];
  const sent: unknown[] = [];
  const client: UpstreamClient = {
    call: async (method, path, { body, headers }) => {
      const line = `${method} ${path}`;
      if (headers !== undefined) sent.push(headers, JSON.parse(String(body?.bytes)));
      asked.push(line.startsWith('POST') && line !== 'POST /prompt' ? `${line} ${String(body?.bytes)}` : line);
      const found = Object.entries(answers).find(([start]) => line.startsWith(start));
      const [status, json] = found?.[1] ?? [500, {}];
      return { status, headers: {}, body: Buffer.from(JSON.stringify(json)) };
    },
    download: () => assert.fail('nothing is downloaded'),
  };
  const deps = (kind: 'comfyui' | 'comfy-v2') => ({
    ...providerDeps({ kind, baseUrl: 'http://comfy.test' }, client),
    workflow: () => graph,
  });
  return {
    asked,
    sent,
    comfyui: () => createComfyuiProvider(deps('comfyui')),
    comfyV2: () => createComfyV2Provider(deps('comfy-v2')),
  };
}

const empty: Answer = [200, { queue_running: [], queue_pending: [] }];
const file = (filename: string, more: object = {}) => ({ filename, subfolder: 'a b', type: 'output', ...more });
const view = (filename: string, subfolder = 'a+b') => ({
  state: 'succeeded',
  result: { url: `/view?filename=${filename}&subfolder=${subfolder}&type=output` },
});
const none = { state: 'failed', error: { kind: 'upstream', detail: 'the workflow wrote no video' } };
const failed = (code: string, detail: string) => ({ state: 'failed', error: { kind: 'upstream', code, detail } });
const wrote = (...files: readonly object[]) => ({
  outputs: { '9': { images: files } },
  status: { status_str: 'success' },
});
const error = (...messages: readonly (readonly [string, object])[]) => ({
  outputs: {},
  status: { status_str: 'error', messages },
});
const broken = ['execution_error', { exception_type: 'OOM', exception_message: 'no memory' }] as const;
const interrupted = ['execution_interrupted', {}] as const;

describe('the history of ComfyUI', () => {
  for (const [entry, expected] of [
    ...['x.mp4', 'x.webm', 'x.mov', 'x.mkv', 'x.avi', 'x.gif', 'X.MP4'].map(
      (name) => [wrote(file(name)), view(name)] as const,
    ),
    [wrote(file('x.mp4'), file('y.mp4'), file('z.png')), view('y.mp4')],
    [wrote(file('x.mp4'), file('y.mp4', { type: 'temp' }), 7 as unknown as object), view('x.mp4')],
    [wrote({ filename: 'x.mp4' }), view('x.mp4', '')],
    [{ ...wrote(), outputs: { '8': { gifs: [file('x.mp4')] }, '9': { text: ['done'] } } }, view('x.mp4')],
    ...['x.png', 'x.mp4.png', 'xmp4'].map((name) => [wrote(file(name)), none] as const),
    [wrote(), none],
    [{ status: { status_str: 'success' } }, none],
    [error(['execution_start', {}], broken), failed('OOM', 'no memory')],
    [error(['execution_error', { exception_message: 'no memory' }]), failed('', 'no memory')],
    [error(broken, interrupted), failed('execution_interrupted', 'the job was interrupted')],
    [error(), failed('', '')],
  ] as const)
    test(`${JSON.stringify(entry).slice(0, 120)} means ${JSON.stringify(expected).slice(0, 80)}`, async () => {
      const answers = { 'GET /queue': empty, 'GET /history': [200, { [jobKey]: entry }] } as const;
      assert.deepEqual(await statusOf(server(answers).comfyui(), job), expected);
    });

  test('and its queue and files show a job before and after it, and anything else is no verdict', async () => {
    const named = [[0, jobKey, {}]];
    const other = [[0, 'another', {}]];
    const stateBy = async (answers: Readonly<Record<string, Answer>>) =>
      (await statusOf(server(answers).comfyui(), job)).state;
    const left = { 'GET /queue': empty, 'GET /history': [200, {}] } as const;
    for (const [answers, state] of [
      [{ 'GET /queue': [200, { queue_running: named, queue_pending: other }] }, 'running'],
      [{ 'GET /queue': [200, { queue_running: other, queue_pending: named }] }, 'queued'],
      [{ ...left, 'HEAD /view': [200, {}] }, 'succeeded'],
      [{ ...left, 'HEAD /view': [404, {}] }, 'missing'],
      [{ ...left, 'HEAD /view': [403, {}] }, 'unclear'],
      [{ ...left, 'GET /history': [200, { [jobKey]: { status: 'done' } }] }, 'unclear'],
      [{ ...left, 'GET /history': [500, {}] }, 'unclear'],
      [{}, 'unclear'],
    ] as const)
      assert.equal(await stateBy(answers), state, JSON.stringify(answers));
  });

  for (const [entry, expected] of [
    [error(interrupted), 'cancelled'],
    [error(broken), 'ended'],
    [wrote(file('x.mp4')), 'ended'],
    [undefined, 'ended'],
    [{ status: 'done' }, 'unclear'],
  ] as const)
    test(`after a cancellation, ${JSON.stringify(entry)} means ${expected}`, async () => {
      const history = entry === undefined ? {} : { [jobKey]: entry };
      const { asked, comfyui } = server({
        'POST /queue': [200, {}],
        'GET /queue': empty,
        'GET /history': [200, history],
        'HEAD /view': [404, {}],
      });
      assert.equal(await comfyui().cancel(job, signal), expected);
      assert.deepEqual(asked.slice(0, 2), [
        `POST /queue {"delete":["${jobKey}"]}`,
        `POST /interrupt {"prompt_id":"${jobKey}"}`,
      ]);
    });

  test('decides whether a create is sent at all', async () => {
    const running: Answer = [200, { queue_running: [[0, jobKey]], queue_pending: [] }];
    const gone = { 'GET /history': [200, {}], 'HEAD /view': [404, {}], 'GET /queue': empty } as const;
    for (const [answers, expected, isSent] of [
      [{ 'GET /queue': running }, { kind: 'accepted', id: jobKey }, false],
      [{ 'GET /queue': [502, {}] }, { kind: 'not_accepted', reason: 'unreachable', detail: 'HTTP 502: {}' }, false],
      [{ ...gone, 'POST /prompt': [200, { prompt_id: jobKey }] }, { kind: 'accepted', id: jobKey }, true],
      ...(
        [
          [200, { prompt_id: 'another' }],
          [500, { error: 'no' }],
          [400, { detail: 'no' }],
        ] as const
      ).map((answer) => {
        const detail = `HTTP ${answer[0]}: ${JSON.stringify(answer[1])}`;
        return [{ ...gone, 'POST /prompt': answer }, { kind: 'unknown', detail }, true] as const;
      }),
    ] as const) {
      const { asked, comfyui } = server(answers);
      assert.deepEqual(await comfyui().submit(request, signal), expected, JSON.stringify(answers));
      assert.equal(asked.includes('POST /prompt'), isSent);
    }
  });
});

describe('the record of a job of the Comfy API v2', () => {
  const output = (name: string, type = '') => ({ name, content_type: type, url: `/files/${name}` });
  const file2 = (name: string) => ({ state: 'succeeded', result: { url: `/files/${name}` } });
  for (const [record, expected] of [
    [{ status: 'queued' }, { state: 'queued' }],
    [{ status: 'running', progress: { value: 0 } }, { state: 'running' }],
    [
      { status: 'running', progress: { value: 0.25 } },
      { state: 'running', progress: 25 },
    ],
    [
      { status: 'running', progress: { value: 1 } },
      { state: 'running', progress: 100 },
    ],
    [{ status: 'running', progress: { value: 1.1 } }, { state: 'running' }],
    [{ status: 'running', progress: { value: -0.1 } }, { state: 'running' }],
    [{ status: 'canceling' }, { state: 'running' }],
    [{ status: 'expired' }, { state: 'missing' }],
    [{ status: 'canceled' }, failed('canceled', 'canceled')],
    [{ status: 'failed', error: { code: 'oom', message: 'no memory' } }, failed('oom', 'no memory')],
    [{ status: 'failed', error: null }, failed('failed', 'failed')],
    [{ status: 'succeeded', outputs: [output('a', 'video/mp4')] }, file2('a')],
    [{ status: 'succeeded', outputs: [output('a.mp4'), output('b.webm'), output('c', 'image/png')] }, file2('b.webm')],
    [{ status: 'succeeded', outputs: [{ url: '/files/a' }] }, failed('succeeded', 'the workflow wrote no video')],
    [{ status: 'succeeded' }, failed('succeeded', 'the workflow wrote no video')],
  ] as const)
    test(`${JSON.stringify(record)} reads ${JSON.stringify(expected)}`, async () => {
      const { comfyV2 } = server({ 'GET /api/v2/jobs/': [200, { id: jobKey, ...record }] });
      assert.deepEqual(await statusOf(comfyV2(), job), expected);
    });

  for (const [status, code, expected] of [
    [404, 'not_found', 'missing'],
    [404, 'no_route', 'unclear'],
    [400, 'not_found', 'unclear'],
  ] as const)
    test(`${status} ${code} is ${expected}`, async () => {
      const { comfyV2 } = server({ 'GET /api/v2/jobs/': [status, { error: { code } }] });
      assert.equal((await statusOf(comfyV2(), job)).state, expected);
    });

  test('is what a create makes, unless the server refuses it or has read the name before', async () => {
    const create = 'POST /api/v2/jobs';
    const used: Answer = [409, { error: { code: 'idempotency_key_reuse' } }];
    const unknown = { kind: 'unknown', detail: `HTTP 409: ${JSON.stringify(used[1])}` } as const;
    const refusedBy = (status: number) => `HTTP ${status}: {"error":{"code":"x"}}`;
    const listed = (metadata: string): Answer => [200, { jobs: [{ id: 'job-7', status: 'running', metadata }] }];
    for (const [answers, expected] of [
      [{ [create]: [201, { id: 'job-7' }] }, { kind: 'accepted', id: 'job-7' }],
      [{ [create]: [201, { id: 'a/b' }] }, { kind: 'unknown', detail: 'HTTP 201: {"id":"a/b"}' }],
      ...[400, 404, 422].map((status) => {
        const outcome = { kind: 'not_accepted', reason: 'operator', detail: refusedBy(status) } as const;
        return [{ [create]: [status, { error: { code: 'x' } }] }, outcome] as const;
      }),
      [
        { [create]: [413, { error: { code: 'x' } }] },
        { kind: 'refused', error: { kind: 'upstream', code: 'x', detail: refusedBy(413) } },
      ],
      [
        { [create]: used, 'GET /api/v2/jobs': listed(jobKey) },
        { kind: 'accepted', id: 'job-7' },
      ],
      [{ [create]: used, 'GET /api/v2/jobs': listed('another') }, unknown],
      [{ [create]: used }, unknown],
    ] as const)
      assert.deepEqual(await server(answers).comfyV2().submit(request, signal), expected, JSON.stringify(answers));
  });
});

test('a create of the Comfy API v2 names its job twice, so that it is made once and found in the list', async () => {
  const { sent, comfyV2 } = server({ 'POST /api/v2/jobs': [201, { id: 'job-7' }] });
  await comfyV2().submit(request, signal);
  const filled = { '1': { class_type: 'Text', inputs: { text: request.input.prompt } } };
  assert.deepEqual(sent, [{ 'idempotency-key': jobKey }, { workflow: filled, metadata: jobKey }]);
});
