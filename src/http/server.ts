import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { answerClientError, refuse } from './answer-client-error.ts';
import type { HttpApp } from './app.ts';
import { describeError } from './describe-error.ts';
import { createExchanges, type Exchanges } from './exchanges.ts';
import { maxBodyBytes } from './read-body.ts';
import { defaultServerLimits, type ServerLimits } from './server-limits.ts';

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
  return server;
}

function serve(server: Server, app: HttpApp, exchanges: Exchanges, log: Logger): void {
  const callback = app.callback();
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    exchanges.begun({ req, res });
    void callback(req, res);
  };
  server.on('connection', (socket) => exchanges.connected(socket));
  server.on('request', handle);
  // "Go on" only to a body that will be read; a larger one is refused before it is sent.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    if (!(Number(req.headers['content-length']) > maxBodyBytes)) res.writeContinue();
    handle(req, res);
  });
  // An expectation we do not know may be ignored (RFC 9110, section 10.1.1); Node would answer without an envelope.
  server.on('checkExpectation', handle);
  server.on('connect', (_req, socket) => refuse(socket, 'method_not_allowed', { Allow: 'GET, HEAD, OPTIONS, POST' }));
  server.on('clientError', (error, socket) => {
    const failure = answerClientError(error, socket, exchanges.lastOf(socket));
    if (failure !== undefined) log.info({ failure, reason: error.message }, 'a connection was refused');
  });
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
