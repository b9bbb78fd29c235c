import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** Between a client and a server on loopback; from some byte on a connection stays open and nothing moves on it any more. */
export type StallingProxy = {
  readonly endpoint: string;
  /** For connections made from now on, in each direction; those that are open are closed. */
  stallAfter(bytes: number): void;
  /** How many directions of a connection stand still. */
  stalled(): number;
  close(): Promise<void>;
};

export async function startStallingProxy(target: string): Promise<StallingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let limit = Infinity;
  let stalled = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(stalling(limit, () => (stalled += 1))).pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo; // a listening TCP server has one
  const closeAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    stallAfter: (bytes) => {
      limit = bytes;
      closeAll();
    },
    stalled: () => stalled,
    close: async () => {
      closeAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Lets so many bytes through, then takes none: its callback is never called. */
function stalling(limit: number, onStall: () => void): Transform {
  let passed = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      passed += chunk.length;
      if (passed <= limit) done(null, chunk);
      else onStall();
    },
  });
}
