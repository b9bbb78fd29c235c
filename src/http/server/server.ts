import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { HttpApp } from '../app.ts';
import { describeError } from '../../domain/errors.ts';
import { maxUploadBytes } from '../../domain/upload.ts';
import { HttpError, maxBodyBytes, maxHeaderBytes } from '../errors.ts';
import { hasAmbiguousFraming } from '../middleware/malformed-requests.ts';
import { answerClientError, refuse } from './client-errors.ts';
import { trackConnections } from './connections.ts';

type Connections = ReturnType<typeof trackConnections>;

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

type HttpServerOptions = {
  readonly app: HttpApp;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Logger;
  readonly limits?: Partial<ServerLimits>;
};

/** Bounds on what a connection may cost, by Node's names; times in milliseconds. */
export type ServerLimits = Readonly<typeof defaultServerLimits>;

const defaultServerLimits = {
  /** From the first byte to the end of the headers. */
  headersTimeout: 10_000,
  /** From the first byte to the end of the body. */
  requestTimeout: 30_000,
  /** How often these two are checked. */
  connectionsCheckingInterval: 2_000,
  /** How long an idle connection is kept; longer than the usual 60 s of a load balancer, which must be the one to close. */
  keepAliveTimeout: 65_000,
  /** A connection on which nothing moves, as of a client that does not read; longer than a held answer may take. */
  timeout: 120_000,
  maxConnections: 10_000,
};

/** Starts listening; rejects when the address is taken or unknown. */
export async function startHttpServer({ app, host, port, log, limits }: HttpServerOptions) {
  const connections = trackConnections();
  const server = boundedServer({ ...defaultServerLimits, ...limits });
  serve(server, app, connections, log);
  await once(server.listen(port, host), 'listening');
  // Such as too many open files on accepting; open connections stay.
  server.on('error', (error) => log.error({ error: describeError(error) }, 'the HTTP server has a fault'));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  let closed: Promise<void> | undefined;
  return {
    /** The port in use, also when any free one was asked for. */
    port: address.port,
    /** Takes no new connections, and cuts off what has not ended after `drainMs`. Never rejects; a second call waits for the first. */
    close: (drainMs: number): Promise<void> => (closed ??= drain(server, connections, drainMs)),
  };
}

function boundedServer({ timeout, maxConnections, ...limits }: ServerLimits): Server {
  // Without a Host header Node would refuse in its own words; the app does it in the envelope.
  const server = createServer({ ...limits, maxHeaderSize: maxHeaderBytes, requireHostHeader: false });
  // Node would drop headers beyond its limit silently; the app counts them and refuses.
  return Object.assign(server, { timeout, maxConnections, maxHeadersCount: 0 });
}

/** Requests of one connection that may wait for each other; one with more is closed after them (RFC 9112, section 9.3.2). */
const maxPipelined = 32;

const allowed = 'GET, HEAD, OPTIONS, POST';

function serve(server: Server, app: HttpApp, connections: Connections, log: Logger): void {
  const callback = app.callback();
  // What follows a request of ambiguous length is not read: it may be the body of another.
  const refused = new WeakSet<Duplex>();
  const refuseConnection = (error: Error, socket: Duplex) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const refusal = answerClientError(error, socket, connections.of(socket)?.last);
    if (refusal !== undefined) log.info({ ...refusal, reason: error.message }, 'a connection was refused');
  };
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (hasAmbiguousFraming(req)) refuseConnection(new Error('the end of the request is ambiguous'), req.socket);
    if ((connections.of(req.socket)?.running.size ?? 0) >= maxPipelined) {
      refuseConnection(new Error('too many requests without waiting for answers'), req.socket);
    }
    if (refused.has(req.socket)) return;
    connections.serve({ req, res, work: () => void callback(req, res) });
  };
  server.on('connection', (socket) => connections.connected(socket));
  server.on('drop', roomMaker(server, connections, log));
  server.on('request', handle);
  // "Go on" only to a body that will be read; a larger one is refused before it is sent.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    const maxBytes = req.url === '/api/v1/uploads' ? maxUploadBytes : maxBodyBytes;
    if (!(Number(req.headers['content-length']) > maxBytes)) res.writeContinue();
    handle(req, res);
  });
  // An expectation we do not know may be ignored (RFC 9110, section 10.1.1); Node would answer without an envelope.
  server.on('checkExpectation', handle);
  // This is no proxy.
  server.on('connect', (_req, socket) => {
    const msg = `the method CONNECT is not allowed; allowed: ${allowed}`;
    const refusal = refuse(socket, new HttpError('method_not_allowed', { msg, headers: { Allow: allowed } }));
    log.info({ ...refusal, reason: 'CONNECT' }, 'a connection was refused');
  });
  server.on('clientError', refuseConnection);
}

const fullLogEveryMs = 10_000;

/** So that a flood of connections does not lock out the others, a twentieth of those without a request in work is closed. */
function roomMaker({ maxConnections }: Server, connections: Connections, log: Logger): () => void {
  let loggedAt = -Infinity;
  return () => {
    const closed = connections.makeRoom(Math.ceil(maxConnections / 20));
    if (performance.now() - loggedAt < fullLogEveryMs) return;
    loggedAt = performance.now();
    log.warn({ maxConnections, closed }, 'too many connections');
  };
}

async function drain(server: Server, connections: Connections, drainMs: number): Promise<void> {
  const over = once(server, 'close');
  server.close();
  connections.closeWhenIdle();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await over;
  clearTimeout(timer);
}
