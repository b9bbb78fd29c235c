import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type AnswerTo, job, jobKey, type Opened, opened, request, type Settings, workflow } from './adapter-stage.ts';
import { lostCall, signal } from './contract/job-request.ts';

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
    { kind: 'openai-videos', dialect: 'vllm-omni' },
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
