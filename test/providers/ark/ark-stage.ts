import type { TestContext } from 'node:test';
import type { JobRequest, LostCreateToRecover, PolledProvider } from '../../../src/providers/provider-contract.ts';
import { type ArkProviderDeps, createArkProvider } from '../../../src/providers/ark/ark-provider.ts';
import { startArkUpstream } from '../../fakes/ark-upstream.ts';
import { clientFor, providerDeps } from '../loopback-client.ts';
import { begun, type JobChanges, lostCall, signal } from '../contract/job-request.ts';

// The provider for Ark, with the fake as its upstream.

export const key = 'test-key';

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
  const config = { upstreamModel: 'seedance', options: { ...(isWrapped ? wrappedOptions : options), parameters } };
  const deps = providerDeps({ kind: 'ark', baseUrl, ...config }, clientFor(baseUrl, key));
  return createArkProvider({ ...deps, ...changes });
}

export async function stage(t: TestContext, changes: Changes = {}) {
  const { isWrapped = false } = changes;
  const upstream = await startArkUpstream({ key, isWrapped });
  t.after(() => upstream.close());
  const baseUrl = `http://${upstream.address}`;
  const provider = arkProvider(baseUrl, changes);
  return { upstream, baseUrl, provider, begin: (wanted: JobChanges = {}) => begun(provider, wanted) };
}

export async function recover(
  provider: PolledProvider,
  request: JobRequest,
  changes: Partial<LostCreateToRecover> = {},
) {
  return await provider.recover(lostCall(request, changes), signal);
}
