import { isIP } from 'node:net';
import { isAddressAllowed, type Target } from './address-rules.ts';
import type { AllowList } from './allow-list.ts';
import type { HostLookup } from './host-lookup.ts';
import { OutboundError } from './outbound-error.ts';
import { withDeadline } from './with-deadline.ts';

/**
 * The addresses to which an exchange with the target may connect, looked up once. One refused answer refuses the
 * name: whoever mixes a private address into a public name hopes that we pick it. Throws `OutboundError`
 * (`dns`, `blocked`, or the signal's).
 */
export async function checkedAddresses(
  target: Target,
  allow: AllowList,
  lookup: HostLookup,
  lookupTimeoutMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = await addressesOf(target.hostname, lookup, lookupTimeoutMs, signal);
  const refused = addresses.find((address) => !isAddressAllowed(address, target, allow));
  if (refused !== undefined) throw new OutboundError('blocked', `${target.hostname} leads to ${refused}`);
  return addresses;
}

async function addressesOf(
  hostname: string,
  lookup: HostLookup,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isIP(hostname) !== 0) return [hostname];
  try {
    const addresses = await withDeadline(timeoutMs, [signal], (inner) => orAbort(lookup(hostname, inner), inner));
    if (addresses.length === 0) throw new Error('no address');
    return addresses;
  } catch (error) {
    signal.throwIfAborted();
    throw new OutboundError('dns', `${hostname} could not be looked up`, error);
  }
}

/** A look-up through the system cannot be cancelled, only left alone. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
