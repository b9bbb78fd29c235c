import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TaskFault } from '../../src/domain/errors.ts';
import type { GeneratedVideo, Provider } from '../../src/providers/provider.ts';

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
const pollEveryMs = 400;
/** A live job outlives this many bad polls in a row; then the attempt is given up, and the next one goes on with the job. */
const maxBadPolls = 20;
const maxDownloads = 3;

type Upstream = { readonly baseUrl: string; readonly folder: string };

/**
 * Speaks to the breaker's FAKE paid upstream with the care that every real one needs: a create without a clear answer is
 * never taken for a refusal, a bad poll is never taken for the end of a job, and a clear end is final.
 */
export function createPaidProvider(upstream: Upstream): Provider {
  return {
    name: paidProviderName,
    submit: ({ taskId, input }, signal) => submit(upstream, { reference: taskId, prompt: input.prompt }, signal),
    recover: ({ taskId }, signal) => recover(upstream, taskId, signal),
    follow: (jobId, { workFolder }, report, signal) =>
      follow({ ...upstream, folder: workFolder }, jobId, report, signal),
    result: (jobId) => result(upstream, jobId),
    cancel: (jobId) => cancel(upstream, jobId),
  };
}

async function submit(upstream: Upstream, job: object, signal: AbortSignal): Promise<string> {
  const { status, body } = await ask(upstream, '/jobs', signal, { method: 'POST', body: JSON.stringify(job) });
  const { id } = body;
  if (status === 201 && typeof id === 'string') return id;
  // The only answer that says for sure that there is no job; after a 5xx there may be one.
  if (status === 429) throw new TaskFault('provider_unavailable', 'The provider is busy.', { retryable: true });
  throw new Error(`the upstream answered ${status} to a create`);
}

async function recover(upstream: Upstream, taskId: string, signal: AbortSignal): ReturnType<Provider['recover']> {
  const { status, body } = await ask(upstream, `/jobs?reference=${taskId}`, signal);
  const { ids } = body;
  if (status !== 200 || !Array.isArray(ids)) throw new Error(`the upstream answered ${status} to a look-up`);
  const jobId: unknown = ids[0];
  return typeof jobId === 'string' ? { kind: 'found', jobId } : { kind: 'not_created' };
}

async function follow(
  upstream: Upstream,
  jobId: string,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<GeneratedVideo> {
  for (let bad = 0, polls = 0; bad < maxBadPolls; await delay(pollEveryMs, undefined, { signal })) {
    const state = await poll(upstream, jobId, signal).catch(() => undefined);
    signal.throwIfAborted();
    bad = state === undefined ? bad + 1 : 0;
    if (state?.kind === 'failed') throw new TaskFault('provider_rejected', 'The provider could not make the video.');
    if (state?.kind === 'succeeded') return download(upstream, state.path, signal);
    report(Math.min(90, (polls += 1)));
  }
  throw new TaskFault('provider_unavailable', 'The provider does not answer.', { retryable: true });
}

type JobState =
  | { readonly kind: 'running' | 'failed' }
  | { readonly kind: 'succeeded'; readonly path: string }
  | undefined;

/** Undefined when the answer says nothing about the job. */
async function poll(upstream: Upstream, jobId: string, signal: AbortSignal): Promise<JobState> {
  const { status, body } = await ask(upstream, `/jobs/${jobId}`, signal);
  if (status !== 200) return undefined;
  const { state, path } = body;
  if (state === 'succeeded' && typeof path === 'string') return { kind: 'succeeded', path };
  return { kind: state === 'running' ? 'running' : 'failed' };
}

/** From the address that came with the first report of success: a later report may name another. */
async function download(upstream: Upstream, path: string, signal: AbortSignal): Promise<GeneratedVideo> {
  for (let left = maxDownloads; ; left -= 1) {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]);
      const response = await fetch(upstream.baseUrl + path, { signal: limit });
      if (!response.ok) throw new Error(`the video's address answered ${response.status}`);
      const file = join(upstream.folder, 'video.mp4');
      await writeFile(file, Buffer.from(await response.arrayBuffer()));
      return { path: file };
    } catch (error) {
      if (signal.aborted || left === 1) throw error;
    }
  }
}

async function result(upstream: Upstream, jobId: string): Promise<GeneratedVideo | undefined> {
  const never = new AbortController().signal;
  const state = await poll(upstream, jobId, never);
  if (state === undefined) throw new Error('the upstream did not say how the job stands');
  if (state.kind !== 'succeeded') return undefined;
  return download({ ...upstream, folder: await mkdtemp(join(upstream.folder, 'result-')) }, state.path, never);
}

async function cancel(upstream: Upstream, jobId: string): Promise<void> {
  const { status } = await ask(upstream, `/jobs/${jobId}/cancel`, new AbortController().signal, { method: 'POST' });
  if (status >= 500) throw new Error(`the upstream answered ${status} to a cancellation`);
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
