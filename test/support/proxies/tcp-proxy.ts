import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Between a client and a server: `cut` breaks every connection and refuses new ones until `restore`. */
export type TcpProxy = {
  /** host:port */
  readonly address: string;
  readonly port: number;
  /** The number of connections it has refused. */
  refused(): number;
  cut(): void;
  restore(): void;
  close(): Promise<void>;
};

/** Starts a proxy to `target` (host:port), on a free port unless one is given; one that is taken is waited for. */
export async function startTcpProxy(target: string, wantedPort = 0, host = '127.0.0.1'): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(`tcp://${target}`);
  const sockets = new Set<Socket>();
  let isCut = false;
  let refused = 0;
  const server = createServer((client) => {
    if (isCut) {
      refused += 1;
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(targetPort), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => {
    const listen = () => server.listen(wantedPort, host);
    server.once('listening', resolve);
    // Tried again in every turn of the event loop, so that nothing else in this process is faster.
    server.on('error', () => setImmediate(listen));
    listen();
  });
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    address: `${host}:${port}`,
    port,
    refused: () => refused,
    cut: () => {
      isCut = true;
      breakAll();
    },
    restore: () => {
      isCut = false;
    },
    close: async () => {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
