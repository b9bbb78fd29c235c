import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { OutboundError } from './outbound-error.ts';
import type { Target } from './address-rules.ts';

export type ConnectOptions = {
  readonly target: Target;
  /** Checked addresses, in the order in which they are tried; nothing else is ever connected to. */
  readonly addresses: readonly string[];
  readonly secure: boolean;
  /** For TCP and TLS with one address. */
  readonly connectTimeoutMs: number;
  /** PEM certificates that replace the public authorities; for tests. */
  readonly ca: string | undefined;
  /** Destroys the socket whenever it is aborted, also in the middle of a handshake. */
  readonly signal: AbortSignal;
};

/** Enough to survive a dead server or a missing address family, few enough to be bounded. */
const maxTries = 4;

/** A socket to the first address that answers, TLS and all. Throws `OutboundError` (`connect`, `tls`, the signal's). */
export async function guardedConnect(options: ConnectOptions): Promise<Socket> {
  let failure: unknown = new OutboundError('connect', `${options.target.hostname} has no address`);
  for (const address of options.addresses.slice(0, maxTries)) {
    try {
      return await connectTo(address, options);
    } catch (error) {
      options.signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

async function connectTo(address: string, options: ConnectOptions): Promise<Socket> {
  const socket = connectTcp({ host: address, port: options.target.port, noDelay: true });
  const destroy = () => socket.destroy();
  // Stays: an error between the hands that the socket passes through must not end the process.
  socket.on('error', destroy);
  const timer = setTimeout(destroy, options.connectTimeoutMs);
  options.signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => options.signal.removeEventListener('abort', destroy));
  if (options.signal.aborted) destroy();
  try {
    await ready(socket, 'connect', options);
    return options.secure ? await secured(verified(socket, address), options) : verified(socket, address);
  } finally {
    clearTimeout(timer);
  }
}

/** Begins after the address was verified, so that not even a handshake reaches another one. */
async function secured(socket: Socket, options: ConnectOptions): Promise<Socket> {
  const { hostname } = options.target;
  const secure = connectTls({
    socket,
    host: hostname,
    // A name for SNI; a literal address must not be sent there, but the certificate has to name it all the same.
    servername: isIP(hostname) === 0 ? hostname : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  secure.on('error', () => secure.destroy());
  await ready(secure, 'secureConnect', options);
  return secure;
}

async function ready(socket: Socket, event: 'connect' | 'secureConnect', { target }: ConnectOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const kind = event === 'connect' ? 'connect' : 'tls';
    let cause: Error | undefined;
    socket.once('error', (error: Error) => (cause = error));
    socket.once('close', () => reject(new OutboundError(kind, `no connection to ${target.hostname}`, cause)));
    socket.once(event, () => resolve());
  });
}

/** The last look before a byte is sent: whatever happened in between, the other end is the address that was checked. */
export function verified(socket: Socket, address: string): Socket {
  const { remoteAddress } = socket;
  if (remoteAddress !== undefined && plain(remoteAddress) === plain(address)) return socket;
  socket.destroy();
  if (remoteAddress === undefined) throw new OutboundError('connect', 'the connection was gone at once');
  throw new OutboundError('blocked', `connected to ${remoteAddress} instead of ${address}`);
}

/** IPv6 can be written in several ways. */
function plain(address: string): string {
  return ipaddr.parse(address).toNormalizedString();
}
