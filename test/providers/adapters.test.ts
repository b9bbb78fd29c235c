import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { withDefaults } from '../../src/catalogue/input/task-input.ts';
import { costRule } from '../../src/catalogue/prices/upstream-cost.ts';
import type { JsonObject } from '../../src/platform/text/json.ts';
import type { UpstreamClient } from '../../src/providers/provider-contract.ts';
import { createProviders, type OpenProvider, type ProvidersDeps } from '../../src/providers/provider-registry.ts';
import { heldProvider } from '../support/tasks/fake-providers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { jobOf, jobRequest, lostCall, signal } from './contract/job-request.ts';
import { catalogueFrom } from './provider-registry-stage.ts';

// What each kind makes of its settings: the configuration of its jobs, its connection, and the bounds of its requests.

const jobKey = '0193a5b0-7c1e-4000-8000-000000000001';
const request = jobRequest({ jobKey, input: withDefaults({ prompt: 'a fox' }) });
const job = jobOf(request, 'job-1');
const baseUrl = 'http://upstream.example';
const key = { env: 'UPSTREAM_KEY' };

type Settings = Readonly<Record<string, unknown>>;
type Opened = { readonly parameters?: Settings; readonly answerTo?: AnswerTo };
/** The status and the body of each answer, by default an error that proves nothing. */
type AnswerTo = (line: string) => readonly [status: number, body: JsonObject];

/** Opens a provider as a worker does; its requests and the options of its client are recorded. */
function opened(settings: Settings, { parameters = {}, answerTo = () => [500, {}] }: Opened = {}) {
  const catalogue = catalogueFrom(
    {
      providers: { studio: { baseUrl, timeouts: { submitSeconds: 50 }, ...settings } },
      models: [
        {
          model: 'film',
          title: 'Film',
          prices: [{ creditsPerSecond: 1 }],
          tiers: [[{ provider: 'studio', model: 'upstream-1', parameters }]],
        },
      ],
    },
    { 'w.json': { '1': { class_type: 'Text', inputs: { text: '{{prompt}}' } } }, 'p.json': fileOfVendor },
  );
  const requests: (readonly [line: string, timeoutMs: number, maxBytes: number])[] = [];
  const signals = new Set<AbortSignal>();
  const client: UpstreamClient = {
    call: async (method, path, options) => {
      const line = `${method} ${path}`;
      requests.push([line, options.timeoutMs, options.maxBytes]);
      signals.add(options.signal);
      const [status, body] = answerTo(line);
      return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
    },
    download: () => assert.fail('nothing is downloaded'),
  };
  const connections: Parameters<ProvidersDeps['openClient']>[0][] = [];
  const providers = createProviders({
    catalogue: () => catalogue,
    preview: heldProvider({ onRun: () => {} }),
    readSecret: (ref) => () => `secret of ${ref.env}`,
    openClient: (upstream) => {
      connections.push(upstream);
      return client;
    },
    warn: () => {},
    emit: () => {},
  });
  const [entry] = catalogue.models.get('film')?.tiers.flat() ?? [];
  const open = entry && providers.ofEntry(entry);
  assert.ok(open);
  return { open, providers, requests, signals, connection: connections[0] ?? assert.fail('no client was opened') };
}

const fileOfVendor = {
  auth: { kind: 'query', name: 'api_key' },
  headers: { 'X-Version': '2', 'X-Id': '$uuid' },
  keyOrigins: ['https://files.example'],
  images: 'link',
  rules: [{ durations: [5] }],
  create: { path: "'/jobs'", json: "{'input': input}", id: 'body.id' },
  status: { path: "'/jobs/' & job.id", state: 'body.state', states: { done: 'succeeded' }, minSeconds: 5 },
  result: { url: 'body.url' },
  example: {
    baseUrl: 'https://vendor.example',
    model: 'm',
    input: { prompt: 'x' },
    job: { id: '1' },
    video: 'https://vendor.example/1.mp4',
    exchanges: [{ step: 'create', request: 'POST /jobs', means: 'unknown' }],
  },
};

function traitsOf({ provider, imageReference }: OpenProvider) {
  const { name, config, runs, images, clips } = provider;
  const common = { name, kind: config.kind, runs, images, clips, imageReference };
  if (provider.runs !== 'upstream') return common;
  const { namesJobs, forgetsJobs, uploads, maxBatch, minPollMs, maxPollsPerSecond, submitTimeoutMs } = provider;
  return { ...common, namesJobs, forgetsJobs, uploads, maxBatch, minPollMs, maxPollsPerSecond, submitTimeoutMs };
}

const polled = { pollsPerSecond: 7 };
const workflow = { parameters: { workflow: './w.json', fps: 16 } };
const frozenWorkflow = { parameters: { workflow: './w.json', fps: 16 } };
const traits = {
  name: 'studio',
  runs: 'upstream',
  images: 'file',
  clips: undefined,
  imageReference: undefined,
  namesJobs: false,
  forgetsJobs: false,
  uploads: undefined,
  maxBatch: 1,
  minPollMs: 500,
  maxPollsPerSecond: 7,
  submitTimeoutMs: 50_000,
};

const videos = (dialect: string) => ({ kind: 'openai-videos', dialect, ...polled });
const kinds: readonly (readonly [settings: Settings, more: Opened, traits: object, options: object])[] = [
  [
    { kind: 'own', ...polled },
    { parameters: { steps: 3 } },
    { kind: 'own', clips: 'link', namesJobs: true, forgetsJobs: true, uploads: false },
    { parameters: { steps: 3 } },
  ],
  [
    { kind: 'own', ...polled, uploads: true, imageReference: '[Image{n}]' },
    {},
    { kind: 'own', clips: 'link', namesJobs: true, forgetsJobs: true, uploads: true, imageReference: '[Image{n}]' },
    { parameters: {} },
  ],
  [
    { kind: 'ark', ...polled, paths: { create: '/c', get: '/g/{id}', list: '/l' }, resultPath: 'video.url' },
    { parameters: { priority: 1 } },
    { kind: 'ark', clips: 'link', imageReference: '@Image{n}', maxBatch: 100 },
    {
      parameters: { priority: 1 },
      paths: { create: '/c', get: '/g/{id}', list: '/l' },
      resultPath: 'video.url',
    },
  ],
  ...(
    [
      ['vllm-omni', { forgetsJobs: true }],
      ['sglang', { forgetsJobs: true }],
      ['openrouter', { clips: 'link' }],
      ['generic', {}],
    ] as const
  ).map(
    ([dialect, own]) =>
      [
        videos(dialect),
        { parameters: { steps: 3 } },
        { kind: 'openai-videos', ...own },
        { parameters: { steps: 3 }, dialect },
      ] as const,
  ),
  [
    { kind: 'comfyui', ...polled },
    workflow,
    { kind: 'comfyui', namesJobs: true, forgetsJobs: true, maxBatch: 100 },
    frozenWorkflow,
  ],
  [{ kind: 'comfy-v2', ...polled }, workflow, { kind: 'comfy-v2', namesJobs: true, forgetsJobs: true }, frozenWorkflow],
];

describe('a provider has the traits of its kind, and freezes its options with each job:', () => {
  for (const [settings, more, expected, options] of kinds)
    test(JSON.stringify(settings), () => {
      const { open } = opened(settings, more);
      assert.deepEqual(traitsOf(open), { ...traits, ...expected });
      assert.deepEqual(open.terms, {
        kind: settings['kind'],
        baseUrl,
        upstreamModel: 'upstream-1',
        options,
        failedJobs: 'billed',
        onLostJob: ['own', 'comfyui'].includes(String(settings['kind'])) ? 'resubmit' : 'fail',
        cost: undefined,
        onRefusedOutput: undefined,
      });
      const text = JSON.stringify(open.terms);
      assert.deepEqual(open.stored, { text, hash: hash('sha256', text) });
    });

  test('cog, whose jobs cannot be polled', async () => {
    const parameters = { input: { prompt: '{{prompt}}' }, fps: 16 };
    const { open } = opened({ kind: 'cog' }, { parameters });
    assert.deepEqual(traitsOf(open), {
      name: 'studio',
      kind: 'cog',
      runs: 'held',
      images: 'file',
      clips: undefined,
      imageReference: undefined,
    });
    assert.deepEqual(open.terms.options, { parameters });
    await assert.rejects(open.poller.follow(job, { ageMs: 0, onProgress: () => {}, signal }), /cannot be polled/);
  });

  test('http, with its file but without the rules, which apply before a create', () => {
    const { open } = opened({ kind: 'http', file: './p.json', ...polled }, { parameters: { style: 'anime' } });
    assert.deepEqual(traitsOf(open), { ...traits, kind: 'http', images: 'link', clips: 'file', minPollMs: 5_000 });
    const { file, ...options } = open.terms.options as { readonly file: object }; // what the next lines check
    assert.deepEqual(options, { parameters: { style: 'anime' } });
    const { rules: _, ...frozen } = fileOfVendor;
    assert.deepEqual(JSON.parse(JSON.stringify(file)), JSON.parse(JSON.stringify(frozen)));
  });
});

test('the terms of a job are those of its provider, for its failure, its loss and its cost', () => {
  const cost = { perSecond: '0.05', currency: 'EUR' };
  const settings = { kind: 'own', failedJobs: 'free', onLostJob: 'fail', onRefusedOutput: 'resubmit', cost };
  const { failedJobs, onLostJob, onRefusedOutput, cost: read } = opened(settings).open.terms;
  assert.deepEqual(
    { failedJobs, onLostJob, onRefusedOutput },
    {
      failedJobs: 'free',
      onLostJob: 'fail',
      onRefusedOutput: 'resubmit',
    },
  );
  assert.deepEqual(read, costRule.parse(cost));
});

test('a job is followed with the terms that it was created with, which may have more fields', () => {
  const { open, providers } = opened({ kind: 'own', ...polled }, { parameters: { steps: 3 } });
  const termsOf = (config: unknown) => providers.ofJob({ provider: 'studio', config })?.terms;
  const earlier = { ...open.terms, upstreamModel: 'upstream-0', options: { parameters: { steps: 9 } }, further: 1 };
  assert.deepEqual(termsOf(earlier), earlier);
  for (const failedJobs of ['free', 'billed'])
    for (const onLostJob of ['fail', 'resubmit'])
      assert.deepEqual(termsOf({ ...earlier, failedJobs, onLostJob }), { ...earlier, failedJobs, onLostJob });
  for (const field of ['kind', 'baseUrl', 'upstreamModel', 'options', 'failedJobs', 'onLostJob'])
    assert.equal(termsOf({ ...earlier, [field]: undefined }), undefined, field);
  const preview = providers.ofJob({ provider: 'preview', config: undefined });
  assert.deepEqual(preview?.terms, {
    kind: 'preview',
    baseUrl: '',
    upstreamModel: '',
    options: {},
    failedJobs: 'free',
    onLostJob: 'resubmit',
  });
});

test('the key of a provider is a bearer token, unless its file needs it elsewhere', () => {
  const connected = (settings: Settings, more: Opened = {}) => {
    const { headers, credentials, secretQuery, keyOrigins, ...others } = opened(settings, more).connection;
    return { ...others, headers, credentials: credentials(), secretQuery: secretQuery(), keyOrigins };
  };
  const bearer = {
    baseUrl,
    headers: {},
    credentials: { authorization: 'Bearer secret of UPSTREAM_KEY' },
    secretQuery: {},
    keyOrigins: [],
  };
  assert.deepEqual(connected({ kind: 'own', key }), bearer);
  assert.deepEqual(connected({ kind: 'own' }), { ...bearer, credentials: {} });
  assert.deepEqual(connected({ kind: 'http', file: 'builtin:runway', key }).credentials, bearer.credentials);
  assert.deepEqual(connected({ kind: 'http', file: './p.json', key }), {
    baseUrl,
    headers: { 'X-Version': '2' },
    credentials: {},
    secretQuery: { api_key: 'secret of UPSTREAM_KEY' },
    keyOrigins: ['https://files.example'],
  });
  const secrets = { accessKey: { env: 'ACCESS' }, secretKey: { env: 'SECRET' } };
  const { authorization = '' } = connected({ kind: 'http', file: 'builtin:kling', secrets }).credentials;
  const [, claims = ''] = authorization.split('.');
  const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly iss: unknown }; // a token
  assert.equal(iss, 'secret of ACCESS');
});

type Step = 'submit' | 'status' | 'statuses' | 'recover' | 'cancel';
type Bounded = readonly (readonly [line: string, timeoutMs: number, maxBytes: number])[];

const noJob: AnswerTo = (line) => {
  if (line === 'GET /queue') return [200, { queue_running: [], queue_pending: [] }];
  return line.startsWith('HEAD') ? [404, {}] : [200, {}];
};
const [kib, mib] = [1024, 1024 * 1024];
const view = `HEAD /view?filename=${jobKey}_00001_.mp4&subfolder=videogen&type=output`;
const comfyStatus: Bounded = [`GET /queue`, `GET /history/${jobKey}`, view].map((line) => [line, 15_000, 16 * mib]);
const predictions = 'POST /models/upstream-1/predictions';

/** Each request with its limits of time and of the answer's bytes. A create has what its setting says. */
const bounds: readonly (readonly [settings: Settings, more: Opened, expected: Record<Step, Bounded>])[] = [
  [
    { kind: 'own' },
    {},
    {
      submit: [[`PUT /jobs/${jobKey}`, 50_000, 64 * kib]],
      status: [[`GET /jobs/${jobKey}`, 10_000, 64 * kib]],
      statuses: [1, 2].map(() => [`GET /jobs/${jobKey}`, 10_000, 64 * kib]),
      recover: [[`GET /jobs/${jobKey}`, 30_000, 64 * kib]],
      cancel: [[`DELETE /jobs/${jobKey}`, 15_000, 64 * kib]],
    },
  ],
  [
    { kind: 'ark', paths: { create: '/c', get: '/g/{id}', list: '/l' } },
    { answerTo: () => [200, { id: 'job-1', status: 'queued', items: [] }] },
    {
      submit: [['POST /c', 50_000, 4_000_000]],
      status: [['GET /g/job-1', 10_000, 4_000_000]],
      statuses: [
        ['GET /l?page_num=1&page_size=100&filter.task_ids=job-1&filter.task_ids=job-1', 10_000, 4_000_000],
        ...[1, 2].map(() => ['GET /g/job-1', 10_000, 4_000_000] as const),
      ],
      recover: [['GET /l?page_num=1&page_size=500&filter.model=upstream-1', 30_000, 4_000_000]],
      cancel: [
        ['GET /g/job-1', 10_000, 4_000_000],
        ['DELETE /g/job-1', 15_000, 4_000_000],
        ['GET /g/job-1', 10_000, 4_000_000],
      ],
    },
  ],
  [
    videos('vllm-omni'),
    {},
    {
      submit: [['POST /videos', 50_000, 256 * kib]],
      status: [['GET /videos/job-1', 10_000, 256 * kib]],
      statuses: [1, 2].map(() => ['GET /videos/job-1', 10_000, 256 * kib]),
      recover: [['GET /videos?limit=100&order=desc', 30_000, 4 * mib]],
      cancel: [['DELETE /videos/job-1', 15_000, 256 * kib]],
    },
  ],
  [
    { kind: 'comfyui' },
    { ...workflow, answerTo: noJob },
    {
      submit: [...comfyStatus, ['POST /prompt', 50_000, 16 * mib]],
      status: comfyStatus,
      // Two jobs share the queue.
      statuses: [...comfyStatus.slice(0, 2), ...comfyStatus.slice(1, 2), ...[1, 2].flatMap(() => comfyStatus.slice(2))],
      recover: comfyStatus,
      cancel: [['POST /queue', 15_000, 16 * mib], ['POST /interrupt', 15_000, 16 * mib], ...comfyStatus],
    },
  ],
  [
    { kind: 'comfy-v2' },
    workflow,
    {
      submit: [['POST /api/v2/jobs', 50_000, 4_000_000]],
      status: [['GET /api/v2/jobs/job-1', 15_000, 4_000_000]],
      statuses: [1, 2].map(() => ['GET /api/v2/jobs/job-1', 15_000, 4_000_000]),
      recover: [['GET /api/v2/jobs?limit=100', 15_000, 4_000_000]],
      cancel: [['POST /api/v2/jobs/job-1/cancel', 15_000, 4_000_000]],
    },
  ],
  [
    { kind: 'http', file: 'builtin:replicate-seedance' },
    {},
    {
      submit: [[predictions, 50_000, 256 * kib]],
      status: [['GET /predictions/job-1', 10_000, 256 * kib]],
      statuses: [1, 2].map(() => ['GET /predictions/job-1', 10_000, 256 * kib]),
      recover: [['GET /predictions', 30_000, 256 * kib]],
      cancel: [['POST /predictions/job-1/cancel', 15_000, 256 * kib]],
    },
  ],
];

/** The clock stands still, so the whole time of a create is left for its last request. */
function stopClock(t: TestContext): void {
  t.mock.method(performance, 'now', () => 0);
}

describe('every request has a limit of time, a limit of bytes, and the signal of its caller, at', () => {
  for (const [settings, more, expected] of bounds)
    test(String(settings['kind']), async (t) => {
      stopClock(t);
      const { open, requests, signals } = opened(settings, more);
      const { provider } = open;
      assert.ok(provider.runs === 'upstream');
      const steps: Record<Step, () => Promise<unknown>> = {
        submit: () => provider.submit(request, signal),
        status: () => provider.status([job], signal),
        statuses: () => provider.status([job, job], signal),
        recover: () => provider.recover(lostCall(request), signal),
        cancel: () => provider.cancel(job, signal),
      };
      const seen: Record<string, Bounded> = {};
      for (const [name, step] of Object.entries(steps)) {
        await step();
        seen[name] = requests.splice(0);
      }
      assert.deepEqual(seen, expected);
      assert.deepEqual([...signals], [signal]);
    });

  test('cog', async (t) => {
    const { open, requests } = opened({ kind: 'cog' }, { parameters: { input: { prompt: '{{prompt}}' } } });
    const { provider } = open;
    assert.ok(provider.runs === 'held');
    await provider.check?.(signal);
    const to = { workFolder: await temporaryFolder(t), signal, onStarted: () => {} };
    assert.equal((await provider.run(request, () => {}, to)).kind, 'lost');
    assert.deepEqual(requests, [
      ['GET /health-check', 10_000, 256 * kib],
      [`PUT /predictions/${jobKey}`, 86_400_000, 1.5 * 2 ** 30],
    ]);
  });
});
