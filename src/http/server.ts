import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { answerClientError, refuse } from './answer-client-error.ts';
import type { HttpApp } from './app.ts';
import { describeError } from './describe-error.ts';
import { createExchanges, type Exchanges } from './exchanges.ts';
import { hasOddFraming } from './has-odd-framing.ts';
import { maxBodyBytes } from './read-body.ts';
import { defaultServerLimits, type ServerLimits } from './server-limits.ts';
import { HttpError } from './errors.ts';

export type HttpServer = {
  /** The port in use, also when any free one was asked for. */
  readonly port: number;
  /**
   * Takes no new connections, closes idle ones, lets running requests end for `drainMs` at most and then cuts them off.
   * Never rejects; a second call waits for the first.
   */
  close(drainMs: number): Promise<void>;
};

export type HttpServerOptions = {
  readonly app: HttpApp;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Logger;
  readonly limits?: Partial<ServerLimits>;
};

/** Starts listening; rejects when the address cannot be had. */
export async function startHttpServer({ app, host, port, log, limits }: HttpServerOptions): Promise<HttpServer> {
  const exchanges = createExchanges();
  const server = boundedServer({ ...defaultServerLimits, ...limits });
  serve(server, app, exchanges, log);
  await listen(server, host, port);
  // Such as too many open files on accepting; the connections that are open go on.
  server.on('error', (error) => log.error({ error: describeError(error) }, 'the HTTP server has a fault'));
  let closed: Promise<void> | undefined;
  return { port: portOf(server), close: (drainMs) => (closed ??= drain(server, exchanges, drainMs)) };
}

function boundedServer(limits: ServerLimits): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // Node would refuse in its own words; the app does it in the envelope.
    requireHostHeader: false,
  });
  server.timeout = limits.stalledTimeoutMs;
  server.maxConnections = limits.maxConnections;
  // Node would leave out what is beyond its limit without a word; the app counts them and refuses.
  server.maxHeadersCount = 0;
  return server;
}

/**
 * Requests of one connection that may wait for their turn; of a connection with more, these are answered and it is closed, as
 * RFC 9112 (section 9.3.2) lets us.
 */
const maxPipelined = 32;

function serve(server: Server, app: HttpApp, exchanges: Exchanges, log: Logger): void {
  const callback = app.callback();
  // What follows a request whose end is in doubt is not listened to: it may be somebody else's body.
  const refused = new WeakSet<Duplex>();
  const refuseConnection = (error: Error, socket: Duplex) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const errorCode = answerClientError(error, socket, exchanges.lastOf(socket));
    if (errorCode !== undefined) log.info({ errorCode, reason: error.message }, 'a connection was refused');
  };
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (hasOddFraming(req)) refuseConnection(new Error('the end of a request is in doubt'), req.socket);
    if (exchanges.runningOn(req.socket) >= maxPipelined) {
      refuseConnection(new Error('too many requests without waiting for answers'), req.socket);
    }
    if (refused.has(req.socket)) return;
    exchanges.begun({ req, res }, () => void callback(req, res));
  };
  server.on('connection', (socket) => exchanges.connected(socket));
  server.on('drop', roomMaker(server, exchanges, log));
  server.on('request', handle);
  // "Go on" only to a body that will be read; a larger one is refused before it is sent.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    if (!(Number(req.headers['content-length']) > maxBodyBytes)) res.writeContinue();
    handle(req, res);
  });
  // An expectation we do not know may be ignored (RFC 9110, section 10.1.1); Node would answer without an envelope.
  server.on('checkExpectation', handle);
  server.on('connect', (_req, socket) => refuseConnect(socket));
  server.on('clientError', refuseConnection);
}

/** This is no proxy. */
function refuseConnect(socket: Duplex): void {
  const allow = 'GET, HEAD, OPTIONS, POST';
  const msg = `the method CONNECT is not allowed; allowed: ${allow}`;
  refuse(socket, new HttpError('method_not_allowed', { msg, headers: { Allow: allow } }));
}

/** The log tells of a full server this often at most. */
const fullLogMs = 10_000;

/**
 * A connection beyond the bound has been closed without an answer, which costs nothing. So that whoever fills the server
 * with connections does not lock out the others, a twentieth of those that keep nobody waiting gives way to the next ones.
 */
function roomMaker({ maxConnections }: Server, exchanges: Exchanges, log: Logger): () => void {
  let loggedAt = -Infinity;
  return () => {
    const closed = exchanges.makeRoom(Math.ceil(maxConnections / 20));
    if (performance.now() - loggedAt < fullLogMs) return;
    loggedAt = performance.now();
    log.warn({ maxConnections, closed }, 'too many connections');
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

async function drain(server: Server, exchanges: Exchanges, drainMs: number): Promise<void> {
  const over = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  exchanges.closeWhenIdle();
  const timer = setTimeout(() => exchanges.cutAll(), drainMs);
  await over;
  clearTimeout(timer);
}
