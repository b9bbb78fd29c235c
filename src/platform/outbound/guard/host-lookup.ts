import { lookup as lookUpInSystem, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import pTimeout from 'p-timeout';
import type { AllowList } from './allow-list.ts';
import { isAddressAllowed, isOwnEndpoint, type OwnEndpoint, type HostAndPort } from './guard.ts';
import { OutboundError } from '../outbound-error.ts';

/** Returns all addresses of a name; rejects when there are none. */
export type UncheckedHostLookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

export type GuardSettings = {
  readonly allow: AllowList;
  readonly own: readonly OwnEndpoint[];
  readonly lookup: UncheckedHostLookup;
  readonly lookupTimeoutMs: number;
};

/**
 * Resolves the target once and returns the addresses to which an exchange may connect. One forbidden address rejects the name: a private
 * one among public ones is an attack. Throws `OutboundError` (`dns`, `blocked`, or the signal's).
 */
export async function checkedAddresses(
  target: HostAndPort,
  guard: GuardSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { hostname, port } = target;
  const addresses = isIP(hostname) === 0 ? await addressesOf(hostname, guard, signal) : [hostname];
  for (const address of addresses) {
    if (!isAddressAllowed(address, target, guard.allow))
      throw new OutboundError('blocked', `${hostname} leads to ${address}`);
    // A look-up through the system cannot be canceled.
    const isOwn = await pTimeout(isOwnEndpoint(address, port, guard.own), { milliseconds: Infinity, signal });
    if (isOwn) throw new OutboundError('blocked', `${hostname} leads to port ${port} of our own server at ${address}`);
  }
  return addresses;
}

/** A name server could return thousands, and each is checked. */
const maxAddresses = 64;

async function addressesOf(hostname: string, guard: GuardSettings, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const addresses = await pTimeout(guard.lookup(hostname, signal), { milliseconds: guard.lookupTimeoutMs, signal });
    if (addresses.length === 0) throw new Error('no address');
    if (addresses.length > maxAddresses) throw new Error(`more than ${maxAddresses} addresses`);
    return addresses;
  } catch (error) {
    signal.throwIfAborted();
    throw new OutboundError('dns', `${hostname} could not be looked up`, error);
  }
}

/** Two tries of two seconds end soon after the time limit of a look-up. */
const queryLimits = { timeout: 2000, tries: 2 } as const;

/**
 * Queries DNS directly for the names of clients. The system's `getaddrinfo` would block one of four threads that files and images
 * need too, so a few names with a silent name server could stall the process; it would also read the hosts file and search
 * domains. Only names on the operator's allow-list use it. `servers` (`address:port`) replace the system's name servers, in tests.
 */
export function createDnsOrSystemLookup(allow: AllowList, servers?: readonly string[]): UncheckedHostLookup {
  const listed = new Set(allow.hosts.map((host) => host.hostname));
  return async (hostname, signal) => {
    if (!listed.has(hostname)) return await queryDns(hostname, servers, signal);
    const answers = await lookUpInSystem(hostname, { all: true, order: 'ipv4first' });
    return answers.map((answer) => answer.address);
  };
}

/** Returns IPv4 addresses first, because hosts without IPv4 are rarer. One family without an answer is no error. */
async function queryDns(
  hostname: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const resolver = new Resolver(queryLimits);
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const families = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
    const reasons = families.flatMap((family) => (family.status === 'rejected' ? [String(family.reason)] : []));
    if (addresses.length === 0) throw new Error(reasons.join('; ') || 'no address');
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
