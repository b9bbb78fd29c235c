import { createProviderClient, type ProviderClient } from '../../src/outbound/provider-client.ts';

const noNames = () => Promise.reject(new Error('no names here'));

/** Long enough that a broken download is not repeated without end, and too short to be noticed. */
const downloadLimits = { firstPauseMs: 1, maxPauseMs: 20 };

/** The client of a provider whose upstream is on this machine, with a key or without. Broken downloads go on at once. */
export function clientFor(baseUrl: string, key?: string): ProviderClient {
  const credentials = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return createProviderClient({ baseUrl, credentials: () => credentials, lookup: noNames, downloadLimits });
}
