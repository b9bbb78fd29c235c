import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** A request and its response. */
export type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse };

/** The open connections of a server, and the requests that each of them has not finished. */
export type Connections = {
  connected(socket: Duplex): void;
  /**
   * Calls `work` once the exchanges before it on the connection are over, never when the connection breaks first. Answers go
   * out in order anyway, and Node never closes an answer that waits behind another when the client has gone: its file would
   * stay open for ever.
   */
  serve(exchange: Exchange, work: () => void): void;
  /** The last exchange of a connection, over or not. */
  lastOf(socket: Duplex): Exchange | undefined;
  /** How many exchanges of a connection are not over. */
  runningOn(socket: Duplex): number;
  /** Closes idle connections now, and every other one after its answer. */
  closeWhenIdle(): void;
  /**
   * Closes up to `count` connections and answers how many: idle ones, then those that are reading an answer, the oldest
   * first. A connection whose request is in work is left alone.
   */
  makeRoom(count: number): number;
};

type Connection = { readonly running: Map<Exchange, () => void>; last: Exchange | undefined };

export function trackConnections(): Connections {
  const connections = new Map<Duplex, Connection>();
  let closing = false;
  return {
    connected: (socket) => {
      connections.set(socket, { running: new Map(), last: undefined });
      socket.once('close', () => connections.delete(socket));
    },
    serve: (exchange, work) => {
      const { req, res } = exchange;
      const connection = connections.get(req.socket);
      if (connection === undefined) return;
      connection.last = exchange;
      connection.running.set(exchange, work);
      if (closing) announceClose(res);
      res.once('close', () => {
        connection.running.delete(exchange);
        if (closing && connection.running.size === 0) req.socket.destroySoon();
        startFirst(connection);
      });
      if (connection.running.size === 1) work();
    },
    lastOf: (socket) => connections.get(socket)?.last,
    runningOn: (socket) => connections.get(socket)?.running.size ?? 0,
    closeWhenIdle: () => {
      closing = true;
      for (const [socket, { running }] of connections) {
        if (running.size === 0) socket.destroy();
        for (const { res } of running.keys()) announceClose(res);
      }
    },
    makeRoom: (count) => {
      const all = [...connections];
      const idle = all.filter(([, { running }]) => running.size === 0);
      const reading = all.filter(([, { running }]) => isReading([...running.keys()][0]));
      const cut = [...idle, ...reading].slice(0, count);
      for (const [socket] of cut) socket.destroy();
      return cut.length;
    },
  };
}

/** So that a client does not send its next request into a connection that is about to close. */
function announceClose(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}

function startFirst({ running }: Connection): void {
  const [first] = running;
  if (first === undefined) return;
  const [{ req, res }, work] = first;
  // An answer that has ended before its work began is a refusal of the rest of its request.
  if (!req.socket.destroyed && !res.writableEnded) work();
}

function isReading(exchange: Exchange | undefined): boolean {
  return exchange?.res.headersSent === true;
}
