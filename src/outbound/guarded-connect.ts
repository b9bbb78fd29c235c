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
  /** Ends the connecting whenever it is aborted, also in the middle of a handshake. */
  readonly signal: AbortSignal;
};

/** An open socket, TLS and all, and the checked address to which it leads. */
export type Connection = {
  readonly socket: Socket;
  readonly address: string;
  /** By `performance.now()`. */
  readonly openedAt: number;
};

/** Enough to survive a dead server or a missing address family, few enough to be bounded. */
const maxTries = 4;

/** A connection to the first address that answers. Throws `OutboundError` (`connect`, `tls`, the signal's). */
export async function guardedConnect(options: ConnectOptions): Promise<Connection> {
  let failure: unknown = new OutboundError('connect', `${options.target.hostname} has no address`);
  for (const address of options.addresses.slice(0, maxTries)) {
    try {
      return { socket: await connectTo(address, options), address, openedAt: performance.now() };
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
  if (options.signal.aborted) destroy();
  try {
    await ready(socket, 'connect', options);
    return options.secure ? await secured(verified(socket, address), options) : verified(socket, address);
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', destroy);
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
  let cause: Error | undefined;
  const onError = (error: Error) => (cause = error);
  socket.once('error', onError);
  await new Promise<void>((resolve, reject) => {
    const kind = event === 'connect' ? 'connect' : 'tls';
    const onClose = () => reject(new OutboundError(kind, `no connection to ${target.hostname}`, cause));
    socket.once('close', onClose);
    socket.once(event, () => {
      socket.off('close', onClose);
      resolve();
    });
  });
  socket.off('error', onError);
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
