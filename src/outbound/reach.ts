import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isLocalName, targetOf } from './guard.ts';

// Whether an upstream can send requests to this service, as far as their addresses tell.

/**
 * An address of one machine or of one network means something else further away. A name with a dot is taken for one that everybody
 * can look up, so an upstream with such a name does not reach a private address.
 */
export function canReach(publicUrl: string, upstreamUrl: string): boolean {
  return meaningOf(publicUrl) >= meaningOf(upstreamUrl);
}

const [onMachine, inNetwork, everywhere] = [0, 1, 2];

/** Where the address leads to the same server. */
function meaningOf(url: string): number {
  const { hostname } = targetOf(new URL(url));
  if (isIP(hostname) === 0) {
    if (isLocalName(hostname)) return onMachine;
    return hostname.includes('.') ? everywhere : inNetwork;
  }
  const range = ipaddr.process(hostname).range();
  if (range === 'loopback' || range === 'unspecified') return onMachine;
  return range === 'unicast' ? everywhere : inNetwork;
}
