import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { noStoreJsonHeaders } from '../request-context-and-responses.ts';
import type { ErrorCode } from '../error-catalogue.ts';
import { HttpError } from '../http-error.ts';

/** `isOver` is true once the response was sent or the client has disconnected. */
export type HttpExchange = { readonly req: IncomingMessage; readonly res: ServerResponse; isOver: boolean };

/** A refused client may send for this long, because closing the connection immediately could lose the response. */
const lingerMs = 1_000;

type Refused = { readonly errorCode: ErrorCode; readonly requestId?: string };

/**
 * Refuses invalid or slow bytes with an envelope and closes the connection. Returns undefined if the client has disconnected. `last` is the
 * last exchange of the connection.
 */
export function refuseConnection(error: Error, socket: Duplex, last: HttpExchange | undefined): Refused | undefined {
  const errorCode = errorCodeOf('code' in error ? error.code : undefined);
  if (errorCode === undefined || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const isOfBody = last?.req.complete === false;
  if (last?.isOver === false && !isOfBody) {
    // The error follows a valid request, whose response comes first.
    last.res.once('close', () => socket.destroy());
    return { errorCode };
  }
  if (isOfBody && last.res.headersSent) {
    socket.destroy();
    return { errorCode };
  }
  const requestId = (isOfBody ? last : undefined)?.res.getHeader('X-Request-Id')?.toString() ?? randomUUID();
  // Writes to the socket, because with the response object Node would never report the body as aborted.
  socket.end(answerText(new HttpError(errorCode), requestId));
  setTimeout(() => socket.destroy(), lingerMs).unref();
  return { errorCode, requestId };
}

function errorCodeOf(code: unknown): ErrorCode | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'body_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'malformed_request';
}

function answerText({ envelope, headers }: HttpError, requestId: string): string {
  const body = JSON.stringify(envelope);
  const all = Object.entries({
    ...noStoreJsonHeaders,
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${envelope.code} ${STATUS_CODES[envelope.code] ?? ''}\r\n${lines}\r\n${body}`;
}
