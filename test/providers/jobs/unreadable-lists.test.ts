import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../../src/platform/text/json.ts';
import { createComfyV2Provider } from '../../../src/providers/comfy/comfy-v2-provider.ts';
import { createComfyuiProvider } from '../../../src/providers/comfy/comfyui-provider.ts';
import { createVideosProvider } from '../../../src/providers/openai-videos/videos-provider.ts';
import { createOwnProvider } from '../../../src/providers/own/own-provider.ts';
import type { PolledProvider, UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { arkProvider } from '../ark/ark-stage.ts';
import { jobRequest, lostCall, signal } from '../contract/job-request.ts';
import { httpProvider, shippedFile } from '../http/shipped-file.ts';
import { providerDeps } from '../loopback-client.ts';

// A lost create may have made a job that is paid for. An answer that cannot be read proves nothing about it, so the look-up is repeated for as
// long as the engine allows, in every kind that looks up jobs.

const request = jobRequest();
const { prompt } = request.input;
const now = Date.now();
const [nowSeconds, nowIso] = [Math.floor(now / 1000), new Date(now).toISOString()];

type Answer = readonly [status: number, body: string];
const json = (body: unknown, status = 200): Answer => [status, JSON.stringify(body)];

function answering([status, body]: Answer): UpstreamClient {
  const answer = { status, headers: {}, body: Buffer.from(body) };
  return { call: async () => answer, download: async () => undefined };
}

type Kind = {
  readonly provider: (client: UpstreamClient) => PolledProvider;
  /** Answers of another shape, or with a job that cannot be read. */
  readonly unreadable: readonly Answer[];
  /** The job that was lost, in a list without the jobs that were made since the create. */
  readonly cut?: Answer;
  /** The same list, which reaches back to a job from before the create. */
  readonly whole?: Answer;
};

const workflow = () => assert.fail('a look-up sends no workflow');
const vllm = { dialect: 'vllm-omni', parameters: {} };
const named = (name: string): JsonObject => ({ metadata: name, status: 'running' });
const arkJob = { id: 'lost', status: 'running', created_at: nowSeconds, safety_identifier: request.accountHash };
const arkOld = { id: 'old', status: 'running', created_at: 1 };
const videosJob = { id: 'lost', prompt, created_at: nowSeconds };
const prediction = { id: 'lost', input: { prompt }, created_at: nowIso };

const kinds: Readonly<Record<string, Kind>> = {
  ark: {
    provider: (client) => arkProvider('http://ark.example', { client }),
    unreadable: [
      json({ items: {} }),
      json({ items: [1] }),
      json({ items: [{ ...arkJob, status: undefined }] }),
      json({ items: [{ ...arkJob, created_at: undefined }, arkJob] }),
    ],
    cut: json({ total: 2, items: [arkJob] }),
    whole: json({ total: 9, items: [arkJob, arkOld] }),
  },
  'openai-videos': {
    provider: (client) =>
      createVideosProvider(
        providerDeps({ kind: 'openai-videos', baseUrl: 'http://vllm.example', options: vllm }, client),
      ),
    unreadable: [json({ data: {} }), json({ data: [{ ...videosJob, prompt: undefined }, videosJob] })],
    cut: json({ data: [videosJob], has_more: true }),
    whole: json({ data: [videosJob, { id: 'old', prompt, created_at: 1 }], has_more: true }),
  },
  'http (a list)': {
    provider: (client) => httpProvider(shippedFile('replicate-seedance'), client),
    unreadable: [
      json({ results: {} }),
      json({ results: [{ ...prediction, created_at: 'today' }] }),
      json({ detail: 'not found' }, 404),
    ],
    cut: json({ next: 'https://api.replicate.com/v1/predictions?cursor=x', results: [prediction] }),
    whole: json({ next: 'x', results: [prediction, { ...prediction, id: 'old', created_at: '2020-01-01T00:00:00Z' }] }),
  },
  'http (a name)': {
    provider: (client) => httpProvider(shippedFile('kling'), client),
    unreadable: [json({ code: 0 }), json({ code: 1302, message: 'busy' }), json({ message: 'no route' }, 404)],
  },
  'http (without `complete`)': {
    provider: (client) => {
      const find = { path: "'/jobs'", id: "$toMillis(body.at) > 0 ? 'x'" };
      return httpProvider(shippedFile('kling', { find }), client);
    },
    unreadable: [json({ at: 'today' }), json({ message: 'no route' }, 404)],
  },
  'comfy-v2': {
    provider: (client) =>
      createComfyV2Provider({
        ...providerDeps({ kind: 'comfy-v2', baseUrl: 'http://comfy.example' }, client),
        workflow,
      }),
    unreadable: [json({ jobs: {} }), json({ jobs: [named('x')] }), json({ error: { code: 'not_found' } }, 404)],
    cut: json({ jobs: [], truncated: true }),
  },
  comfyui: {
    provider: (client) =>
      createComfyuiProvider({
        ...providerDeps({ kind: 'comfyui', baseUrl: 'http://comfy.example' }, client),
        workflow,
      }),
    unreadable: [json({ queue_running: {}, queue_pending: [] }), json({ queue_running: [] }), json({}, 404)],
  },
  own: {
    provider: (client) => createOwnProvider(providerDeps({ kind: 'own', baseUrl: 'http://own.example' }, client)),
    unreadable: [json({ id: 'another', status: 'running' }), json({ error: { code: 'no_route' } }, 404)],
  },
};

const everywhere: readonly Answer[] = [
  json({ error: { code: 'internal' } }, 500),
  json({}, 429),
  [200, '<html>maintenance</html>'],
  [200, '{"items": [{"id": "los'],
  [200, ''],
  json([]),
];
/** The engine ends the look-ups ten minutes after the create. */
const agesMs = [0, 120_000, 599_000];

for (const [kind, { provider, unreadable, cut, whole }] of Object.entries(kinds)) {
  describe(`the look-up at ${kind}`, () => {
    const lookUp = async (answer: Answer, ageMs: number) =>
      (await provider(answering(answer)).recover(lostCall(request, { intendedAt: now - ageMs }), signal)).kind;

    for (const answer of [...everywhere, ...unreadable]) {
      test(`is repeated after HTTP ${answer.join(' ').replaceAll(/\d{10}|[\da-f-]{36,64}/g, '…')}`, async () => {
        for (const ageMs of agesMs) assert.equal(await lookUp(answer, ageMs), 'later', `${ageMs} ms`);
      });
    }

    if (cut !== undefined)
      test('a list that may lack jobs neither identifies the job nor proves that no job exists', async () => {
        assert.equal(await lookUp(cut, 0), 'later');
        for (const ageMs of agesMs.slice(1)) assert.match(await lookUp(cut, ageMs), /^(?:later|unknown)$/);
      });

    if (whole !== undefined)
      test('finds the job in a list that reaches back to before the create', async () => {
        assert.equal(await lookUp(whole, 0), 'found');
      });
  });
}
