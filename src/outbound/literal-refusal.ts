import { isIP } from 'node:net';
import { isAddressAllowed, isHostAllowed, type Target } from './address-rules.ts';
import type { AllowList } from './allow-list.ts';
import { isWebPort } from './port-rules.ts';
import { targetOf } from './target-of.ts';

/**
 * Why a URL of a client is refused without asking the network, or undefined. Pure, so that createTask may ask before it
 * charges (422, design section 7). The answer continues a path: `callBackUrl: must be an http or https URL`. `URL`
 * has already turned decimal, octal, hexadecimal, short and full-width IPv4 into the plain form.
 */
export function literalRefusal(url: string, allow: AllowList): string | undefined {
  if (!URL.canParse(url)) return 'must be an http or https URL';
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return 'must be an http or https URL';
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or password';
  return targetRefusal(targetOf(parsed), allow);
}

function targetRefusal(target: Target, allow: AllowList): string | undefined {
  if (isHostAllowed(target, allow)) return undefined;
  if (!isWebPort(target.port) && !mayBeListed(target.port, allow)) return `must not use port ${target.port}`;
  const isPrivate =
    isIP(target.hostname) === 0 ? isLocalName(target.hostname) : !isAddressAllowed(target.hostname, target, allow);
  return isPrivate ? 'must not point to a private or reserved address' : undefined;
}

/** A name may still resolve into an allowed network; the check of its addresses then decides about the port. */
function mayBeListed(port: number, allow: AllowList): boolean {
  return allow.networks.some((network) => network.port === undefined || network.port === port);
}

function isLocalName(hostname: string): boolean {
  return hostname === '' || hostname === 'localhost' || hostname.endsWith('.localhost');
}
