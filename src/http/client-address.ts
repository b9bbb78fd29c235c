import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';

/**
 * The client's address; of IPv6 the network, of which one client has all. A peer in a private network is taken for a
 * proxy and its last `X-Forwarded-For` is believed: forging it there gains no more than further tries.
 */
export function addressOf({ socket, headers }: IncomingMessage): string {
  const peer = parsed(socket.remoteAddress);
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim();
  const isProxy = peer !== undefined && peer.range() !== 'unicast';
  const address = (isProxy ? parsed(forwarded) : undefined) ?? peer;
  if (address === undefined) return 'unknown';
  const groups = address.toNormalizedString().split(':');
  return address.kind() === 'ipv6' ? groups.slice(0, 4).join(':') : address.toString();
}

/** What a proxy on this machine adds to the requests of others. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/** Whether a request was made on this machine, by all that can be seen of it. */
export function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  const isLoopback = parsed(socket.remoteAddress)?.range() === 'loopback';
  return isLoopback && forwarding.every((name) => headers[name] === undefined);
}

function parsed(address: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return address !== undefined && ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
