import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';

/** What a proxy on this machine adds to the requests of others. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/** Whether a request was made on this machine, by all that can be seen of it. */
export function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  const peer = socket.remoteAddress;
  const isLoopback = peer !== undefined && ipaddr.isValid(peer) && ipaddr.process(peer).range() === 'loopback';
  return isLoopback && forwarding.every((name) => headers[name] === undefined);
}
