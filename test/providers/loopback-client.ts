import {
  createProviderClient,
  type ProviderClient,
  type ProviderClientOptions,
} from '../../src/platform/outbound/provider-client.ts';
import type { FrozenConfig, UpstreamAnswer, UpstreamClient } from '../../src/providers/provider-contract.ts';
import type { PolledProviderDeps } from '../../src/providers/jobs/polled-provider.ts';

const noNames = () => Promise.reject(new Error('no names here'));

/** Long enough that a broken download is not repeated without end, and too short to be noticed. */
const downloadLimits = { firstPauseMs: 1, maxPauseMs: 20 };

/** The client of a provider whose upstream is on this machine, with a key or without. Broken downloads resume immediately. */
export function clientFor(baseUrl: string, key?: string): ProviderClient {
  const credentials = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return localClient({ baseUrl, credentials: () => credentials });
}

export function localClient(options: ProviderClientOptions): ProviderClient {
  return createProviderClient({ ...options, lookup: noNames, downloadLimits });
}

/** An upstream that gives one answer to everything. */
export function answering(status: number, body: object, headers: UpstreamAnswer['headers'] = {}): UpstreamClient {
  const answer = { status, headers, body: Buffer.from(JSON.stringify(body)) };
  return { call: async () => answer, download: async () => undefined };
}

/** The dependencies of every provider whose jobs run upstream. */
export function providerDeps(
  config: Pick<FrozenConfig, 'kind' | 'baseUrl'> & Partial<FrozenConfig>,
  client: UpstreamClient = clientFor(config.baseUrl),
): PolledProviderDeps {
  return {
    name: config.kind,
    config: { upstreamModel: 'model', options: {}, ...config },
    client,
    pollsPerSecond: 14,
    submitTimeoutMs: 600_000,
    warn: () => undefined,
  };
}
