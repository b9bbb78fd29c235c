import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { type ConnectionPool, leadsToOneOf, type PooledRequest } from './connection-pool.ts';
import { OutboundError } from './outbound-error.ts';

export type OutboundRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** The only ones that are connected to, in this order; they have been checked. */
  readonly addresses: readonly string[];
  /** With a key, a connection is kept for, and taken from, requests with the same key. */
  readonly poolKey?: string | undefined;
  /** PEM certificates that replace the public authorities; for tests. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
};

export type Read<T> = (response: IncomingMessage) => Promise<T>;

/** How far a request has come, which says what a fault means: once it may be on its way, the other side has `closed`. */
type Progress = { stage: 'connect' | 'tls' | 'closed' };

/**
 * One request, sent once. Its connection is gone when `read` has answered, unless it is kept: then it had nothing more to say. The
 * only bound on time is the signal. Throws `OutboundError` for what the other side does, and whatever `read` throws.
 */
export async function exchange<T>(pool: ConnectionPool, request: OutboundRequest, read: Read<T>): Promise<T> {
  const { poolKey, addresses, signal } = request;
  if (poolKey !== undefined) await pool.retain(poolKey, addresses);
  signal.throwIfAborted();
  const outgoing = send(pool, request);
  const progress: Progress = { stage: 'connect' };
  const closed = new Promise<void>((resolve) => void outgoing.once('close', resolve));
  try {
    const response = await responseTo(outgoing, request, progress);
    const answer = await read(response);
    // Both sides have said everything, and the other one has not asked for the connection to be closed.
    const isAtItsEnd = outgoing.writableFinished && response.complete && outgoing.shouldKeepAlive;
    // The pool gets a connection back a turn of the event loop later.
    if (isAtItsEnd) await closed;
    return answer;
  } catch (error) {
    if (signal.aborted && progress.stage === 'closed') throw afterSending(signal.reason);
    signal.throwIfAborted();
    throw error;
  } finally {
    outgoing.destroy();
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
    signal,
    ...(poolKey !== undefined && { poolKey }),
    ...(ca !== undefined && { ca }),
  };
  const outgoing = url.protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
  outgoing.end(body);
  return outgoing;
}

async function responseTo(
  outgoing: ClientRequest,
  { url, addresses }: OutboundRequest,
  progress: Progress,
): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('socket', (socket) => {
      const onConnected = () => {
        progress.stage = url.protocol === 'https:' && !outgoing.reusedSocket ? 'tls' : 'closed';
        // The last check before a byte of the request is sent.
        const { remoteAddress } = socket;
        if (remoteAddress === undefined || leadsToOneOf(addresses, socket)) return;
        outgoing.destroy(new OutboundError('blocked', `connected to ${remoteAddress}, which was not checked`));
      };
      if (!socket.connecting) return onConnected();
      socket.once('connect', onConnected).once('secureConnect', () => (progress.stage = 'closed'));
    });
    // Both stay: faults may follow a response, and then the reader of its body learns of them.
    outgoing.on('error', (error) => reject(explained(error, progress.stage)));
    outgoing.once('response', (response) => resolve(response.on('error', () => {})));
    // Comes last, and alone when the answer is 101 (Switching Protocols): that is neither a response nor an error to Node.
    outgoing.once('close', () => reject(new OutboundError('protocol', 'closed without a response')));
  });
}

/** The reason of a signal does not know how far the request had come. */
function afterSending(reason: unknown): unknown {
  return reason instanceof OutboundError ? new OutboundError(reason.kind, reason.detail, reason, true) : reason;
}

/** What an error of Node means for an exchange that had come this far. */
export function explained(error: unknown, stage: Progress['stage']): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isProtocol = stage === 'closed' && (code.startsWith('HPE_') || code.startsWith('ERR_SSL'));
  return new OutboundError(isProtocol ? 'protocol' : stage, code || String(error), error);
}
