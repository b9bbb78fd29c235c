import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeErrorForLog } from '../../../platform/setup-errors-and-error-messages.ts';
import { maxHeaderBytes } from '../request-sizes.ts';
import { callWhenBodyIsLate } from './body-time-limit.ts';
import { type HttpExchange, refuseConnection } from './refuse-connection.ts';

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

type HttpServerOptions = {
  /** A Koa app. */
  readonly app: { callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void> };
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Logger;
  readonly limits?: Partial<ServerLimits>;
};

/** The limits have Node's names. Times are in milliseconds. */
export type ServerLimits = Readonly<typeof defaultServerLimits>;

const defaultServerLimits = {
  headersTimeout: 10_000,
  /** A large upload takes minutes on a slow line. */
  requestTimeout: 900_000,
  connectionsCheckingInterval: 2_000,
  /** Longer than the usual 60 s of load balancers, which must close first. */
  keepAliveTimeout: 65_000,
  /** Closes a connection without traffic; longer than a long poll. */
  timeout: 120_000,
  maxConnections: 10_000,
  /** Our own limit, from the headers of a request to the end of its body, except for uploads. */
  bodyTimeout: 30_000,
};

/** While the server closes, a connection that a proxy has just opened gets this long to send its request, which would be lost otherwise. */
const firstRequestMs = 1_000;

/** Rejects if the address is in use or unknown. */
export async function startHttpServer({ app, host, port, log, limits }: HttpServerOptions) {
  const { bodyTimeout, ...nodeLimits } = { ...defaultServerLimits, ...limits };
  const server = boundedServer(nodeLimits);
  const connections = serve(server, { app, log, bodyTimeout });
  await once(server.listen(port, host), 'listening');
  server.on('error', (error) => log.error({ error: describeErrorForLog(error) }, 'HTTP server error'));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  let closed: Promise<void> | undefined;
  return {
    port: address.port,
    /** From now on every connection is closed after its next response, so that proxies have no idle connection left when the listener closes. */
    announceClose: connections.announceClose,
    /** Closes remaining connections after `drainMs`. Never rejects; a second call waits for the first. */
    close: (drainMs: number): Promise<void> => (closed ??= drain(server, connections, drainMs)),
  };
}

function boundedServer({ timeout, maxConnections, ...limits }: Omit<ServerLimits, 'bodyTimeout'>): Server {
  // The app refuses a missing Host header, with an envelope.
  const server = createServer({ ...limits, maxHeaderSize: maxHeaderBytes, requireHostHeader: false });
  // Beyond a maximum count, Node would drop headers silently; their size is bounded anyway.
  return Object.assign(server, { timeout, maxConnections, maxHeadersCount: 0 });
}

type Connections = {
  /**
   * From now on closes every connection after a response that announces it. A response that has already begun without `Connection: close`
   * leaves its connection open, because the client may send the next request as soon as it has read the response.
   */
  readonly announceClose: () => void;
  /** From now on closes every connection after its response. */
  readonly closeAfterResponses: () => void;
  /** Closes idle connections now, and those without a request after `firstRequestMs`. */
  readonly closeIdle: () => void;
};

type Serving = Pick<HttpServerOptions, 'app' | 'log'> & Pick<ServerLimits, 'bodyTimeout'>;

function serve(server: Server, { app, log, bodyTimeout }: Serving): Connections {
  const callback = app.callback();
  /** Open connections, each with its last exchange. */
  const open = new Map<Duplex, HttpExchange | undefined>();
  /** Connections about to close, whose further bytes are ignored. */
  const ignored = new WeakSet<Duplex>();
  let isClosing = false;
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req;
    const before = open.get(socket);
    if (ignored.has(socket) || !open.has(socket)) return;
    // Node runs pipelined requests concurrently, and does not report a disconnect behind a waiting response. So the connection closes
    // after the current response, and the client repeats the rest (RFC 9112, section 9.3.2).
    if (before?.isOver === false) {
      ignored.add(socket);
      closeAfter(before);
      return;
    }
    const exchange = { req, res, isOver: false };
    open.set(socket, exchange);
    res.once('close', () => (exchange.isOver = true));
    if (isClosing) closeAfter(exchange);
    callWhenBodyIsLate(req, bodyTimeout, () => server.emit('clientError', lateBody(), socket));
    void callback(req, res);
  };
  server.on('connection', (socket) => {
    open.set(socket, undefined);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', handle);
  // Unknown expectations may be ignored (RFC 9110, section 10.1.1); Node would refuse them without an envelope.
  server.on('checkExpectation', handle);
  server.on('clientError', (error, socket) => {
    // Each further packet of a malformed request raises the event again.
    if (ignored.has(socket)) return;
    ignored.add(socket);
    const refusal = refuseConnection(error, socket, open.get(socket));
    if (refusal !== undefined) log.info({ ...refusal, reason: error.message }, 'malformed or slow request refused');
  });
  server.on('drop', fullServerLog(server, log));
  const closeAfterAll = (isCounted: (exchange: HttpExchange) => boolean) => {
    isClosing = true;
    for (const last of open.values()) if (last?.isOver === false && isCounted(last)) closeAfter(last);
  };
  const closeSilent = () => {
    for (const [socket, last] of open) if (last === undefined) socket.destroy();
  };
  return {
    announceClose: () => closeAfterAll(({ res }) => !res.headersSent),
    closeAfterResponses: () => closeAfterAll(() => true),
    closeIdle: () => {
      for (const [socket, last] of open) if (last?.isOver === true) socket.destroy();
      const timer = setTimeout(closeSilent, firstRequestMs);
      server.once('close', () => clearTimeout(timer));
    },
  };
}

/** The error that Node raises for its own limit. */
function lateBody(): Error {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

/** Adds `Connection: close` if the response has not started, so that the client does not reuse a closing connection. */
function closeAfter({ req, res }: HttpExchange): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
  res.once('close', () => req.socket.destroySoon());
}

const fullLogEveryMs = 10_000;

function fullServerLog({ maxConnections }: Server, log: Logger): () => void {
  let loggedAt = -Infinity;
  return () => {
    if (performance.now() - loggedAt < fullLogEveryMs) return;
    loggedAt = performance.now();
    log.warn({ maxConnections }, 'too many connections');
  };
}

async function drain(server: Server, connections: Connections, drainMs: number): Promise<void> {
  connections.closeAfterResponses();
  await acceptQueued(server);
  const over = once(server, 'close');
  server.close();
  connections.closeIdle();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await over;
  clearTimeout(timer);
}

const maxAcceptMs = 1_000;
const quietTurnMs = 1;

/**
 * Closing the listener resets the connections in the kernel's queue, with the requests on them. So this waits for a turn of the event
 * loop that accepts no connection and is too short for one to arrive meanwhile.
 */
async function acceptQueued(server: Server): Promise<void> {
  let accepted = 0;
  const count = () => void (accepted += 1);
  server.on('connection', count);
  // A callback of a socket or a signal runs after its turn has accepted connections, so the rest of that turn would always look quiet.
  await nextTurn();
  const startedAt = performance.now();
  for (let now = startedAt, isQuiet = false; !isQuiet && now - startedAt < maxAcceptMs;) {
    const before = { accepted, now };
    await nextTurn();
    now = performance.now();
    isQuiet = accepted === before.accepted && now - before.now < quietTurnMs;
  }
  server.off('connection', count);
}
