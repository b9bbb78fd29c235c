import { lookup, Resolver } from 'node:dns/promises';
import type { AllowList } from './allow-list.ts';

/** All addresses of a name; rejects when there are none. */
export type HostLookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Two tries of two seconds: within the five seconds that the guarded client grants to a look-up. */
const tryMs = 2000;
const tries = 2;

/**
 * Asks DNS itself for the names of strangers. The system's `getaddrinfo` would run in one of four threads that files
 * and images need too, so that a handful of names with a silent name server could stall the process; it would also read
 * the hosts file and try search domains, which are none of a stranger's business. A name that the operator has allowed
 * gets just that. `servers` (`address:port`) replace the name servers of the system, in tests.
 */
export function createHostLookup(allow: AllowList, servers?: readonly string[]): HostLookup {
  const named = new Set(allow.hosts.map((host) => host.hostname));
  return (hostname, signal) => (named.has(hostname) ? askSystem(hostname) : askDns(hostname, servers, signal));
}

async function askSystem(hostname: string): Promise<readonly string[]> {
  const answers = await lookup(hostname, { all: true, order: 'ipv4first' });
  return answers.map((answer) => answer.address);
}

/** IPv4 first: it is the family that is missing less often. One family without an answer is no failure. */
async function askDns(
  hostname: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: tryMs, tries });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const families = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
    if (addresses.length === 0) throw new Error(reasonOf(families), { cause: families });
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function reasonOf(families: readonly PromiseSettledResult<readonly string[]>[]): string {
  const reasons = families.flatMap((family) => (family.status === 'rejected' ? [String(family.reason)] : []));
  return reasons.join('; ') || 'no address';
}
