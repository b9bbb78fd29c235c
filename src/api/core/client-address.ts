import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The client's address, or its /64 network for IPv6. `X-Forwarded-For` counts only from TRUSTED_PROXIES, because others could evade rate
 * limits with it: the last entry that is not a trusted proxy is the client.
 */
export function clientAddressOf({ socket, headers }: IncomingMessage, isTrusted: (address: string) => boolean): string {
  const peer = parsed(socket.remoteAddress);
  const isProxy = (address: Address) => isTrusted(address.toString());
  const entries = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const hops = [...entries.map((entry) => parsed(entry.trim())), peer];
  const address = hops.findLast((hop) => hop === undefined || !isProxy(hop)) ?? peer;
  if (address === undefined) return 'unknown';
  const groups = address.toNormalizedString().split(':');
  return address.kind() === 'ipv6' ? groups.slice(0, 4).join(':') : address.toString();
}

/** Headers that a proxy on this machine would add. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

export function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  const isLoopback = parsed(socket.remoteAddress)?.range() === 'loopback';
  return isLoopback && forwarding.every((name) => headers[name] === undefined);
}

/** Checks `isIP` first, because ipaddr.js takes 0.1 ms to reject a missing header. It throws on some zones, such as that of `fe80::1%br-0`. */
function parsed(address: string | undefined): Address | undefined {
  return address !== undefined && isIP(address) !== 0 ? ipaddr.process(address.replace(/%.*$/, '')) : undefined;
}
