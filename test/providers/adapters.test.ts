import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import { costRuleSchema } from '../../src/catalogue/prices/upstream-cost.ts';
import type { ProviderWithTermsAndPoller } from '../../src/providers/open-providers.ts';
import { baseUrl, fileOfVendor, job, type Opened, opened, type Settings, workflow } from './adapter-stage.ts';
import { signal } from './contract/job-request.ts';

// What each kind makes of its settings: the configuration of its jobs, and its connection.

function traitsOf({ provider, imageReference }: ProviderWithTermsAndPoller) {
  const { name, config, runs, images, clips } = provider;
  const common = { name, kind: config.kind, runs, images, clips, imageReference };
  if (provider.runs !== 'upstream') return common;
  const { namesJobs, forgetsJobs, uploads, maxBatch, minPollMs, maxPollsPerSecond, submitTimeoutMs } = provider;
  return { ...common, namesJobs, forgetsJobs, uploads, maxBatch, minPollMs, maxPollsPerSecond, submitTimeoutMs };
}

const key = { env: 'UPSTREAM_KEY' };
const polled = { pollsPerSecond: 7 };
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
        { kind: 'openai-videos', dialect, ...polled },
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
  assert.deepEqual(read, costRuleSchema.parse(cost));
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
