import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { guardedConnect, type ConnectOptions } from './guarded-connect.ts';
import { OutboundError, type OutboundKind } from './outbound-error.ts';

export type OutboundRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

export type OutboundResponse = IncomingMessage;

const maxHeaderBytes = 16 * 1024;

/**
 * One request on one connection of its own, gone when `read` has answered. Connections are not kept: nothing to grow
 * with the number of hosts, nothing left at shutdown, and whoever sends more than we read is cut off by it. The only
 * bound on time is the signal of `connect`. Throws `OutboundError` for what the other side does, and whatever `read`
 * throws. It is node:http and not undici, because undici 7 ends the whole process with an assertion when a server
 * closes while its body waits to be read (nodejs/undici#5360; version 8 is mended, but wants a newer Node).
 */
export async function exchange<T>(
  request: OutboundRequest,
  connect: ConnectOptions,
  read: (response: OutboundResponse) => Promise<T>,
): Promise<T> {
  const socket = await guardedConnect(connect);
  try {
    return await read(await responseTo(request, socket));
  } catch (error) {
    throw explained(error, connect);
  } finally {
    socket.destroy();
  }
}

/** Plain HTTP over whatever the socket is: TLS, when wanted, has been seen to. */
async function responseTo({ method, url, headers, body }: OutboundRequest, socket: Socket): Promise<OutboundResponse> {
  return await new Promise<OutboundResponse>((resolve, reject) => {
    const outgoing = httpRequest({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, connection: 'close' },
      createConnection: () => socket,
      maxHeaderSize: maxHeaderBytes,
    });
    // Both stay: faults may follow a response, and then it is the reader of its body who learns of them.
    outgoing.on('error', reject);
    outgoing.once('response', (response) => resolve(response.on('error', () => {})));
    outgoing.end(body);
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
