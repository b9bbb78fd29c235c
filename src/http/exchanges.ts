import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** A request and its response. */
export type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse };

/** Knows the open connections of a server and what each of them is busy with. */
export type Exchanges = {
  connected(socket: Duplex): void;
  begun(exchange: Exchange): void;
  /** The last exchange of a connection, over or not. */
  lastOf(socket: Duplex): Exchange | undefined;
  /** Closes idle connections at once and every other one after its answer. */
  closeWhenIdle(): void;
  /** Cuts off whatever is still open. */
  cutAll(): void;
};

type Connection = { running: Set<Exchange>; last: Exchange | undefined };

export function createExchanges(): Exchanges {
  const connections = new Map<Duplex, Connection>();
  let closing = false;
  return {
    connected: (socket) => {
      connections.set(socket, { running: new Set(), last: undefined });
      socket.once('close', () => connections.delete(socket));
    },
    begun: (exchange) => {
      const { req, res } = exchange;
      const connection = connections.get(req.socket);
      if (connection === undefined) return;
      connection.last = exchange;
      connection.running.add(exchange);
      if (closing) announceClose(res);
      res.once('close', () => {
        connection.running.delete(exchange);
        if (closing && connection.running.size === 0) req.socket.destroySoon();
      });
    },
    lastOf: (socket) => connections.get(socket)?.last,
    closeWhenIdle: () => {
      closing = true;
      for (const [socket, { running }] of connections) {
        if (running.size === 0) socket.destroy();
        for (const { res } of running) announceClose(res);
      }
    },
    cutAll: () => {
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}

/** So that a client does not send its next request into a connection that is about to go. */
function announceClose(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}
