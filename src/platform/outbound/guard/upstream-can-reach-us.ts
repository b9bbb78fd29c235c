import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isLocalhostName, hostAndPortOf } from './guard.ts';

/**
 * Returns true if an upstream can send requests to us, judged by the addresses alone. Addresses of one machine or network are useless
 * elsewhere. A name with a dot counts as public, so an upstream with such a name does not reach a private address.
 */
export function upstreamCanReachUs(publicUrl: string, upstreamUrl: string): boolean {
  return scopeOf(publicUrl) >= scopeOf(upstreamUrl);
}

const [onMachine, inNetwork, everywhere] = [0, 1, 2];

/** Returns the area in which the address leads to the same server. */
function scopeOf(url: string): number {
  const { hostname } = hostAndPortOf(new URL(url));
  if (isIP(hostname) === 0) {
    if (isLocalhostName(hostname)) return onMachine;
    return hostname.includes('.') ? everywhere : inNetwork;
  }
  const range = ipaddr.process(hostname).range();
  if (range === 'loopback' || range === 'unspecified') return onMachine;
  return range === 'unicast' ? everywhere : inNetwork;
}
