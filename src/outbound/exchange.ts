import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { guardedConnect, type Connection, type ConnectOptions } from './guarded-connect.ts';
import type { KeptConnections } from './kept-connections.ts';
import { OutboundError, type OutboundKind } from './outbound-error.ts';

export type OutboundRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

export type OutboundResponse = IncomingMessage;

const maxHeaderBytes = 16 * 1024;

/** Where connections are kept for the next exchange, and for which; without it each has one of its own. */
export type Keeping = { readonly connections: KeptConnections; readonly purpose: string };

/**
 * One request on one connection, which is gone when `read` has answered, unless it is kept: then it had nothing more to say.
 * Whoever sends more than we read is cut off by it. The only bound on time is the signal of `connect`. Throws `OutboundError` for
 * what the other side does, and whatever `read` throws. It is node:http and not undici, because undici 7 ends the whole process
 * with an assertion when a server closes while its body waits to be read (nodejs/undici#5360; version 8 is mended, but wants a
 * newer Node).
 */
export async function exchange<T>(
  request: OutboundRequest,
  connect: ConnectOptions,
  read: (response: OutboundResponse) => Promise<T>,
  keeping?: Keeping,
): Promise<T> {
  const exchangeOver = (connection: Connection) => attempt(connection, request, connect, read, keeping);
  const kept = keeping?.connections.take(keeping.purpose, connect.addresses);
  const tried = kept === undefined ? undefined : await exchangeOver(kept);
  // Whoever hangs up at once on what was kept has most likely not seen the request, so it gets it once more.
  const outcome = tried === undefined || 'hungUp' in tried ? await exchangeOver(await guardedConnect(connect)) : tried;
  if ('hungUp' in outcome) throw outcome.hungUp;
  return outcome.answer;
}

/** A connection that was closed while the request was on its way says so within a round trip. */
const atOnceMs = 1_000;

/** `hungUp` is the fault of a connection that closed at once, before a status came. */
type Outcome<T> = { readonly answer: T } | { readonly hungUp: OutboundError };

async function attempt<T>(
  connection: Connection,
  request: OutboundRequest,
  connect: ConnectOptions,
  read: (response: OutboundResponse) => Promise<T>,
  keeping: Keeping | undefined,
): Promise<Outcome<T>> {
  const { socket } = connection;
  const destroy = () => socket.destroy();
  connect.signal.addEventListener('abort', destroy, { once: true });
  if (connect.signal.aborted) destroy();
  const beganAt = performance.now();
  let response: OutboundResponse | undefined;
  let reusable: Keeping | undefined;
  try {
    const outgoing = requestOver(socket, request, keeping !== undefined);
    const closed = new Promise<void>((resolve) => void outgoing.once('close', resolve));
    response = await responseTo(outgoing);
    const answer = await read(response);
    if (keeping !== undefined && isAtItsEnd(outgoing, response)) {
      // Only then has the request let go of the socket; it is a turn of the event loop away.
      await closed;
      reusable = keeping;
    }
    return { answer };
  } catch (error) {
    const why = explained(error, connect);
    const isAtOnce = response === undefined && performance.now() - beganAt < atOnceMs;
    if (isAtOnce && why instanceof OutboundError && why.kind === 'closed') return { hungUp: why };
    throw why;
  } finally {
    connect.signal.removeEventListener('abort', destroy);
    if (reusable === undefined) destroy();
    else reusable.connections.keep(reusable.purpose, connection);
  }
}

/** Both sides have said everything, and the other one has not asked for the connection to be closed. */
function isAtItsEnd(outgoing: ClientRequest, response: OutboundResponse): boolean {
  return outgoing.writableFinished && response.complete && outgoing.shouldKeepAlive;
}

/** Plain HTTP over whatever the socket is: TLS, when wanted, has been seen to. */
function requestOver(socket: Socket, { method, url, headers, body }: OutboundRequest, isKept: boolean): ClientRequest {
  const outgoing = httpRequest({
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, connection: isKept ? 'keep-alive' : 'close' },
    createConnection: () => socket,
    maxHeaderSize: maxHeaderBytes,
  });
  outgoing.end(body);
  return outgoing;
}

async function responseTo(outgoing: ClientRequest): Promise<OutboundResponse> {
  return await new Promise<OutboundResponse>((resolve, reject) => {
    // Both stay: faults may follow a response, and then it is the reader of its body who learns of them.
    outgoing.on('error', reject);
    outgoing.once('response', (response) => resolve(response.on('error', () => {})));
  });
}

const closedCodes: ReadonlySet<string> = new Set([
  'ECONNABORTED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'EPROTO',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
]);

function explained(error: unknown, connect: ConnectOptions): unknown {
  if (connect.signal.aborted) return connect.signal.reason;
  const kind = kindOf(error);
  if (kind === undefined) return error;
  return new OutboundError(kind, `${connect.target.hostname} broke off or broke the protocol`, error);
}

/** Undefined for what is no fault of the other side: our own errors, and those of `read`. */
function kindOf(error: unknown): OutboundKind | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (closedCodes.has(error.code)) return 'closed';
  return error.code.startsWith('HPE_') || error.code.startsWith('ERR_SSL') ? 'protocol' : undefined;
}
