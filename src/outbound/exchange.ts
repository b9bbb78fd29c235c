import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { type ConnectionPool, leadsToOneOf, type PooledRequest } from './connection-pool.ts';
import { OutboundError, type OutboundKind } from './outbound-error.ts';

export type OutboundRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The only ones that are connected to, in this order; they have been checked. */
  readonly addresses: readonly string[];
  /** With a key, a connection is kept for, and taken from, requests with the same key. */
  readonly poolKey?: string | undefined;
  /** PEM certificates that replace the public authorities; for tests. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
};

export type Read<T> = (response: IncomingMessage) => Promise<T>;

/**
 * One request, whose connection is gone when `read` has answered, unless it is kept: then it had nothing more to say. The only
 * bound on time is the signal. Throws `OutboundError` for what the other side does, and whatever `read` throws. A pooled
 * connection that closes immediately has most likely not seen the request, so the request is sent once more over a new one.
 */
export async function exchange<T>(pool: ConnectionPool, request: OutboundRequest, read: Read<T>): Promise<T> {
  const { poolKey, addresses } = request;
  if (poolKey !== undefined) await pool.retain(poolKey, addresses);
  const first = await attempt(pool, request, read);
  if (!('hungUp' in first)) return first.answer;
  if (poolKey !== undefined) await pool.retain(poolKey, []);
  const second = await attempt(pool, request, read);
  if ('hungUp' in second) throw second.hungUp;
  return second.answer;
}

/** A connection that was closed while the request was on its way says so within a round trip. */
const atOnceMs = 1_000;

/** `hungUp` is the fault of a pooled connection that closed before a status came. */
type Outcome<T> = { readonly answer: T } | { readonly hungUp: OutboundError };

async function attempt<T>(pool: ConnectionPool, request: OutboundRequest, read: Read<T>): Promise<Outcome<T>> {
  request.signal.throwIfAborted();
  const beganAt = performance.now();
  const outgoing = send(pool, request);
  const closed = new Promise<void>((resolve) => void outgoing.once('close', resolve));
  let response: IncomingMessage | undefined;
  try {
    response = await responseTo(outgoing, request);
    const answer = await read(response);
    // Both sides have said everything, and the other one has not asked for the connection to be closed.
    const isAtItsEnd = outgoing.writableFinished && response.complete && outgoing.shouldKeepAlive;
    if (!isAtItsEnd) outgoing.destroy();
    // The pool gets a connection back a turn of the event loop later.
    else await closed;
    return { answer };
  } catch (error) {
    outgoing.destroy();
    request.signal.throwIfAborted();
    const isAtOnce = outgoing.reusedSocket && response === undefined && performance.now() - beganAt < atOnceMs;
    if (isAtOnce && error instanceof OutboundError && error.kind === 'closed') return { hungUp: error };
    throw error;
  }
}

/** Enough addresses to survive a dead server or a missing address family, few enough to be bounded. */
const maxAddresses = 4;

function send(pool: ConnectionPool, request: OutboundRequest): ClientRequest {
  const { method, url, headers, body, poolKey, ca, signal } = request;
  const answers = request.addresses.slice(0, maxAddresses).map((address) => ({ address, family: isIP(address) }));
  const options: PooledRequest = {
    method,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host },
    agent: poolKey !== undefined && pool.agentFor(url.protocol),
    // It knows one answer, so that a name leads where it was checked to lead. It gives it later, as DNS would: an address without
    // a route fails within the call, and before the next turn of the event loop nothing listens for the socket's error.
    lookup: (_hostname, _options, done) => void setImmediate(done, null, answers),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 4_000,
    maxHeaderSize: 16 * 1024,
    signal,
    ...(poolKey !== undefined && { poolKey }),
    ...(ca !== undefined && { ca }),
  };
  const outgoing = url.protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
  outgoing.end(body);
  return outgoing;
}

async function responseTo(outgoing: ClientRequest, { url, addresses }: OutboundRequest): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    // How far it has come says what a fault means.
    let stage: OutboundKind = 'connect';
    outgoing.once('socket', (socket) => {
      const onConnected = () => {
        stage = url.protocol === 'https:' && !outgoing.reusedSocket ? 'tls' : 'closed';
        // The last check before a byte of the request is sent.
        const { remoteAddress } = socket;
        if (remoteAddress === undefined || leadsToOneOf(addresses, socket)) return;
        outgoing.destroy(new OutboundError('blocked', `connected to ${remoteAddress}, which was not checked`));
      };
      if (!socket.connecting) return onConnected();
      socket.once('connect', onConnected).once('secureConnect', () => (stage = 'closed'));
    });
    // Both stay: faults may follow a response, and then the reader of its body learns of them.
    outgoing.on('error', (error) => reject(explained(error, stage)));
    outgoing.once('response', (response) => resolve(response.on('error', () => {})));
    // Comes last, and alone when the answer is 101 (Switching Protocols): that is neither a response nor an error to Node.
    outgoing.once('close', () => reject(new OutboundError('protocol', 'closed without a response')));
  });
}

/** The chunks of a body; a fault of the other side is an `OutboundError`. */
export async function* chunksOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // The types say `any` for a chunk; without an encoding it is always a Buffer.
    for await (const chunk of response as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw explained(error, 'closed');
  }
}

function explained(error: unknown, stage: OutboundKind): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isProtocol = stage === 'closed' && (code.startsWith('HPE_') || code.startsWith('ERR_SSL'));
  return new OutboundError(isProtocol ? 'protocol' : stage, code || String(error), error);
}
