import assert from 'node:assert/strict';
import { withDefaults } from '../../src/catalogue/input/task-input.ts';
import type { JsonObject } from '../../src/platform/text/json.ts';
import type { UpstreamClient } from '../../src/providers/provider-contract.ts';
import { createOpenProviders, type OpenProvidersDeps } from '../../src/providers/open-providers.ts';
import { heldProvider } from '../support/tasks/fake-providers.ts';
import { jobOf, jobRequest } from './contract/job-request.ts';
import { catalogueFrom } from './open-providers-stage.ts';

// A provider of any kind, whose requests and connection are recorded.

export const jobKey = '0193a5b0-7c1e-4000-8000-000000000001';
export const request = jobRequest({ jobKey, input: withDefaults({ prompt: 'a fox' }) });
export const job = jobOf(request, 'job-1');
export const baseUrl = 'http://upstream.example';

export type Settings = Readonly<Record<string, unknown>>;
export type Opened = { readonly parameters?: Settings; readonly answerTo?: AnswerTo };
/** The status and the body of each answer, by default an error that proves nothing. */
export type AnswerTo = (line: string) => readonly [status: number, body: JsonObject];

/** Opens a provider as a worker does; its requests and the options of its client are recorded. */
export function opened(settings: Settings, { parameters = {}, answerTo = () => [500, {}] }: Opened = {}) {
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
  const connections: Parameters<OpenProvidersDeps['openClient']>[0][] = [];
  const providers = createOpenProviders({
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

export const fileOfVendor = {
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

export const workflow = { parameters: { workflow: './w.json', fps: 16 } };
