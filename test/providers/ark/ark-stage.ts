import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type {
  Job,
  JobRequest,
  JobStatus,
  LostCall,
  PolledProvider,
  UpstreamClient,
} from '../../../src/providers/contract.ts';
import { type ArkProviderDeps, createArkProvider } from '../../../src/providers/ark/ark-provider.ts';
import { startArkUpstream } from '../../fakes/ark.ts';
import { clientFor } from '../provider-client.ts';
import { jobOf, jobRequest, type JobChanges } from '../job-request.ts';

// The provider for Ark, in front of the fake.

export const key = 'test-key';
export const { signal } = new AbortController();

const tasks = '/contents/generations/tasks';
const options = { paths: { create: tasks, get: `${tasks}/{id}`, list: tasks }, resultPath: 'content.video_url' };
const v2 = '/v2/query/video_generation';
const wrappedOptions = {
  paths: { create: '/v2/video_generation', get: `${v2}/{id}`, list: v2 },
  resultPath: 'content.url',
};

type Changes = Partial<ArkProviderDeps> & {
  readonly isWrapped?: boolean;
  readonly parameters?: ArkProviderDeps['config']['options'];
};

export function arkProvider(baseUrl: string, { isWrapped = false, parameters = {}, ...changes }: Changes = {}) {
  return createArkProvider({
    name: 'ark',
    config: {
      kind: 'ark',
      baseUrl,
      upstreamModel: 'seedance',
      options: { ...(isWrapped ? wrappedOptions : options), parameters },
    },
    client: clientFor(baseUrl, key),
    pollsPerSecond: 14,
    submitTimeoutMs: 60_000,
    warn: () => undefined,
    ...changes,
  });
}

export async function stage(t: TestContext, changes: Changes & { readonly maxQueued?: number } = {}) {
  const { maxQueued = Infinity, isWrapped = false } = changes;
  const upstream = await startArkUpstream({ key, maxQueued, isWrapped });
  t.after(() => upstream.close());
  const baseUrl = `http://${upstream.address}`;
  const provider = arkProvider(baseUrl, changes);
  const begin = async (wanted: JobChanges = {}) => {
    const request = jobRequest(wanted);
    const outcome = await provider.submit(request, signal);
    assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
    return { request, job: jobOf(request, outcome.id) };
  };
  return { upstream, baseUrl, provider, begin };
}

/** An upstream that gives one answer to everything. */
export function answering(status: number, body: object): UpstreamClient {
  const answer = { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  return { call: async () => answer, download: async () => undefined };
}

export async function statusOf(provider: PolledProvider, job: Job): Promise<JobStatus | undefined> {
  return (await provider.status([job], signal)).get(job.jobKey);
}

export async function recover(provider: PolledProvider, request: JobRequest, changes: Partial<LostCall> = {}) {
  const known = { intendedAt: Date.now(), claimed: async () => new Set<string>(), rivals: 0 };
  return await provider.recover({ ...request, ...known, ...changes }, signal);
}
