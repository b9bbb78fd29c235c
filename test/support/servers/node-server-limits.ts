import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const channel = 'http.server.request.start';

/** Limits that no request meets, however slow the machine is, until a test lowers them. */
export const patient = { headersTimeout: 600_000, requestTimeout: 600_000, connectionsCheckingInterval: 10 };

export type WatchedServer = Disposable & {
  readonly server: () => Server;
  /** Every request that is not complete is late after this time; Node swaps the two limits when the one of the headers is longer. */
  readonly limit: (ms: number) => void;
};

/** Node's server on a port, known from its first request on. Its limits on time are read at each check, so they can be changed. */
export function watchNodeServer(port: number): WatchedServer {
  let found: Server | undefined;
  const onRequest = (message: unknown) => {
    const { server } = message as { readonly server: Server }; // what Node publishes on this channel
    if ((server.address() as AddressInfo | null)?.port === port) found = server;
  };
  subscribe(channel, onRequest);
  const server = () => {
    if (found === undefined) throw new Error('the server has not had a request yet');
    return found;
  };
  return {
    server,
    limit: (ms) => void Object.assign(server(), { headersTimeout: ms, requestTimeout: ms }),
    [Symbol.dispose]: () => unsubscribe(channel, onRequest),
  };
}

/** Counts the requests that servers of this process receive from now on. */
export function countRequests(): Disposable & { readonly count: () => number } {
  let received = 0;
  const onRequest = () => void (received += 1);
  subscribe(channel, onRequest);
  return { count: () => received, [Symbol.dispose]: () => unsubscribe(channel, onRequest) };
}
