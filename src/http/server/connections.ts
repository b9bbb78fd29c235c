import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse; readonly work: () => void };

/** The exchanges that are not over, in order, and the last one, over or not. */
type Connection = { readonly running: Set<Exchange>; last: Exchange | undefined };

/** The open connections of a server, the oldest first, and the requests that each of them has not finished. */
export function trackConnections() {
  const connections = new Map<Duplex, Connection>();
  let isClosing = false;
  return {
    connected: (socket: Duplex) => {
      connections.set(socket, { running: new Set(), last: undefined });
      socket.once('close', () => connections.delete(socket));
    },
    of: (socket: Duplex) => connections.get(socket),
    /**
     * Begins an exchange once those before it on the connection are over, never when the connection breaks first: Node never
     * closes an answer that waits behind another when the client has gone, and its file would stay open for ever.
     */
    serve: (exchange: Exchange) => {
      const { req, res } = exchange;
      const connection = connections.get(req.socket);
      if (connection === undefined) return;
      connection.last = exchange;
      connection.running.add(exchange);
      if (isClosing) announceClose(res);
      res.once('close', () => {
        connection.running.delete(exchange);
        const [next] = connection.running;
        if (isClosing && next === undefined) req.socket.destroySoon();
        // An answer that has ended before its work began is a refusal of the rest of its request.
        if (next !== undefined && !req.socket.destroyed && !next.res.writableEnded) next.work();
      });
      if (connection.running.size === 1) exchange.work();
    },
    /** Closes idle connections now, and every other one after its answer. */
    closeWhenIdle: () => {
      isClosing = true;
      for (const [socket, { running }] of connections) {
        if (running.size === 0) socket.destroy();
        for (const { res } of running) announceClose(res);
      }
    },
    /** Closes up to `count` connections without a request in work, and answers how many: idle ones first, then the oldest. */
    makeRoom: (count: number) => {
      const all = [...connections];
      const idle = all.filter(([, { running }]) => running.size === 0);
      const reading = all.filter(([, { running }]) => [...running][0]?.res.headersSent === true);
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
