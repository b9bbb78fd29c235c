import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { jsonHeaders } from '../context.ts';
import { answerTo, type Envelope, type ErrorCode, HttpError } from '../errors.ts';
import type { Exchange } from './connections.ts';

/** How long a refused client may go on sending until the connection is cut; cutting it right after the answer could lose the answer. */
const lingerMs = 1_000;

/** A refusal for the log; `requestId` is the X-Request-Id of its answer, where there is room for one. */
export type Refused = { readonly errorCode: ErrorCode; readonly requestId?: string };

/**
 * Answers what never became a request (malformed HTTP, too large headers, too slow), in the envelope, and closes the
 * connection. `last` is what the connection was busy with before. Returns what is to be logged, undefined when the client has gone.
 */
export function answerClientError(error: Error, socket: Duplex, last: Exchange | undefined): Refused | undefined {
  const failure = failureFor('code' in error ? error.code : undefined);
  if (failure === undefined || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  if (last === undefined || isOver(last)) return refuse(socket, new HttpError(failure));
  return last.req.complete ? closeAfter(last, socket, failure) : refuseUnfinished(last, socket, failure);
}

/** Answers on a bare socket, with an id of its own. */
export function refuse(socket: Duplex, refusal: HttpError): Refused {
  const answer = answerTo(refusal);
  const requestId = randomUUID();
  socket.on('error', () => socket.destroy());
  socket.end(responseText(answer.envelope, { 'X-Request-Id': requestId, ...answer.headers }));
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  return { errorCode: refusal.code, requestId };
}

function failureFor(code: unknown): ErrorCode | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'body_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'malformed_request';
}

function isOver({ req, res }: Exchange): boolean {
  return req.complete && res.writableFinished;
}

/** The fault is in what follows a good request, whose answer comes first; then nothing more can be understood. */
function closeAfter({ res }: Exchange, socket: Duplex, failure: ErrorCode): Refused {
  res.once('close', () => socket.destroy());
  return { errorCode: failure };
}

/** The fault is in the body of a request that has begun: its own response is the place for the answer, if it is still free. */
function refuseUnfinished({ res }: Exchange, socket: Duplex, failure: ErrorCode): Refused {
  if (res.headersSent) {
    socket.destroy();
    return { errorCode: failure };
  }
  const { envelope, headers } = answerTo(new HttpError(failure));
  // The id that its line in the log has, unless the request still waited for the one before it.
  const requestId = res.getHeader('X-Request-Id')?.toString() ?? randomUUID();
  const text = JSON.stringify(envelope);
  res.once('close', () => socket.destroy());
  res.writeHead(envelope.code, {
    ...jsonHeaders,
    'X-Request-Id': requestId,
    ...headers,
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  res.end(text);
  return { errorCode: failure, requestId };
}

function responseText(envelope: Envelope, headers: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(envelope);
  const all = {
    ...jsonHeaders,
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${envelope.code} ${STATUS_CODES[envelope.code] ?? ''}\r\n${lines.join('')}\r\n${text}`;
}
