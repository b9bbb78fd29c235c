import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type {
  CancelOutcome,
  GeneratedVideo,
  JobStatus,
  PolledProvider,
  RecoverOutcome,
  SubmitOutcome,
  Workspace,
} from '../../src/providers/contract.ts';

/** As the breaker's catalogue of models calls it. */
export const paidProviderName = 'fake-paid';

/** What a catalogue says of it; the breaker's worker puts its own provider in that place. */
export const paidProviderSettings = {
  kind: 'own',
  baseUrl: 'http://127.0.0.1:9',
  limit: 10_000,
  onLostAnswer: 'fail',
};

const answerLimitMs = 5_000;
const downloadPauseMs = 400;

type Upstream = { readonly baseUrl: string };

/**
 * Speaks to the breaker's FAKE paid upstream with the care that every real one needs: a create without a clear answer is
 * never taken for a refusal, a bad poll is never taken for the end of a job, and a clear end is final.
 */
export function createPaidProvider(upstream: Upstream): PolledProvider {
  return {
    name: paidProviderName,
    config: { kind: 'own', baseUrl: upstream.baseUrl, upstreamModel: 'paid', options: {} },
    runs: 'upstream',
    namesJobs: true,
    forgetsJobs: false,
    images: 'file',
    maxBatch: 1,
    minPollMs: 400,
    maxPollsPerSecond: 100,
    submit: ({ taskId, input }, signal) => submit(upstream, { reference: taskId, prompt: input.prompt }, signal),
    recover: ({ taskId }, signal) => recover(upstream, taskId, signal),
    status: async (jobs, signal) => {
      const statuses = jobs.map(async ({ jobKey, id }) => [jobKey, await poll(upstream, id, signal)] as const);
      return new Map(await Promise.all(statuses));
    },
    result: (_job, known, to) => download(upstream, z.string().parse(known?.['path']), to),
    cancel: ({ id }, signal) => cancel(upstream, id, signal),
  };
}

async function submit(upstream: Upstream, job: object, signal: AbortSignal): Promise<SubmitOutcome> {
  const { status, body } = await ask(upstream, '/jobs', signal, { method: 'POST', body: JSON.stringify(job) });
  const { id } = body;
  if (status === 201 && typeof id === 'string') return { kind: 'accepted', id };
  // The only answer that says for sure that there is no job; after a 5xx there may be one.
  if (status === 429) return { kind: 'not_accepted', reason: 'busy', retryAfterMs: 500, detail: 'it is busy' };
  return { kind: 'unknown', detail: `the upstream answered ${status} to a create` };
}

async function recover(upstream: Upstream, taskId: string, signal: AbortSignal): Promise<RecoverOutcome> {
  const { status, body } = await ask(upstream, `/jobs?reference=${taskId}`, signal);
  const { ids } = body;
  if (status !== 200 || !Array.isArray(ids)) throw new Error(`the upstream answered ${status} to a look-up`);
  const id: unknown = ids[0];
  return typeof id === 'string' ? { kind: 'found', id } : { kind: 'not_created' };
}

async function poll(upstream: Upstream, jobId: string, signal: AbortSignal): Promise<JobStatus> {
  const answered = await ask(upstream, `/jobs/${jobId}`, signal).catch(() => undefined);
  if (answered?.status !== 200) return { state: 'unclear', detail: `it answered ${answered?.status ?? 'nothing'}` };
  const { state, path } = answered.body;
  if (state === 'succeeded' && typeof path === 'string') return { state, result: { path } };
  if (state === 'running') return { state };
  return { state: 'failed', fault: { kind: 'upstream', detail: 'it could not make the video' } };
}

/** From the address that came with the first report of success: a later report may name another. */
async function download(upstream: Upstream, path: string, { workFolder, signal }: Workspace): Promise<GeneratedVideo> {
  for (;;) {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]);
      const response = await fetch(upstream.baseUrl + path, { signal: limit });
      if (!response.ok) throw new Error(`the video's address answered ${response.status}`);
      const file = join(workFolder, 'video.mp4');
      await writeFile(file, Buffer.from(await response.arrayBuffer()));
      return { path: file };
    } catch {
      signal.throwIfAborted();
      await delay(downloadPauseMs);
    }
  }
}

async function cancel(upstream: Upstream, jobId: string, signal: AbortSignal): Promise<CancelOutcome> {
  const { status } = await ask(upstream, `/jobs/${jobId}/cancel`, signal, { method: 'POST' });
  if (status >= 500) return 'unclear';
  return status < 400 ? 'cancelled' : 'runs_on';
}

type UpstreamAnswer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

async function ask(
  upstream: Upstream,
  path: string,
  signal: AbortSignal,
  init: RequestInit = {},
): Promise<UpstreamAnswer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]);
  const response = await fetch(upstream.baseUrl + path, { ...init, signal: limit });
  // The fake answers JSON objects only.
  return { status: response.status, body: (await response.json()) as UpstreamAnswer['body'] };
}
