import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { jsonHeaders } from '../context.ts';
import { type ErrorCode, HttpError } from '../errors.ts';
import type { Exchange } from './connections.ts';

/** How long a refused client may go on sending: cutting the connection right after the answer could lose the answer. */
const lingerMs = 1_000;

/** For the log; `requestId` is the X-Request-Id of the answer, where there is room for one. */
type Refused = { readonly errorCode: ErrorCode; readonly requestId?: string };

/**
 * Answers what never became a request (malformed HTTP, too large headers, too slow) and closes the connection. `last` is what the
 * connection was busy with before. Returns what is to be logged, undefined when the client has gone.
 */
export function answerClientError(error: Error, socket: Duplex, last: Exchange | undefined): Refused | undefined {
  const errorCode = failureFor('code' in error ? error.code : undefined);
  if (errorCode === undefined || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  if (last === undefined || (last.req.complete && last.res.writableFinished)) {
    return refuse(socket, new HttpError(errorCode));
  }
  const { req, res } = last;
  res.once('close', () => {
    // After an answer Node tells nobody who still reads the body that no more will come.
    req.destroy();
    socket.destroy();
  });
  // The fault is in what follows a good request, whose answer comes first.
  if (req.complete) return { errorCode };
  // The fault is in the body of a request: its own response is the place for the answer, if it is still free.
  if (res.headersSent) {
    socket.destroy();
    return { errorCode };
  }
  // The id that its line in the log has, unless the request still waited for the one before it.
  const requestId = res.getHeader('X-Request-Id')?.toString() ?? randomUUID();
  const { status, headers, text } = lastAnswer(new HttpError(errorCode), requestId);
  res.writeHead(status, headers).end(text);
  return { errorCode, requestId };
}

/** Answers on a bare socket, with an id of its own. */
export function refuse(socket: Duplex, refusal: HttpError): Refused {
  const requestId = randomUUID();
  const { status, headers, text } = lastAnswer(refusal, requestId);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
  return { errorCode: refusal.code, requestId };
}

function failureFor(code: unknown): ErrorCode | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'body_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'malformed_request';
}

function lastAnswer({ envelope, headers }: HttpError, requestId: string) {
  const text = JSON.stringify(envelope);
  const own = { 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
  const end = { 'Content-Length': String(Buffer.byteLength(text)), Connection: 'close' };
  return { status: envelope.code, headers: { ...jsonHeaders, ...own, ...headers, ...end }, text };
}
