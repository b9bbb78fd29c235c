import { createProviderClient, type ProviderClient } from '../../src/outbound/provider-client.ts';

const noNames = () => Promise.reject(new Error('no names here'));

/** The client of a provider whose upstream is on this machine, with a key or without. */
export function clientFor(baseUrl: string, key?: string): ProviderClient {
  const credentials = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return createProviderClient({ baseUrl, credentials: () => credentials, lookup: noNames });
}
