import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** A TCP server that misbehaves, and how many connections it has seen and still holds. */
export type HostileReceiver = {
  readonly port: number;
  readonly seen: () => number;
  readonly open: () => number;
  readonly close: () => Promise<void>;
};

/** Listens on a loopback address; `misbehave` gets every connection. Errors of sockets are part of the game. */
export async function hostileReceiver(
  misbehave: (socket: Socket) => void,
  address = '127.0.0.1',
): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  let seen = 0;
  const server = createServer((socket) => {
    seen += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    misbehave(socket);
  });
  server.listen(0, address);
  await once(server, 'listening');
  return { port: portOf(server), seen: () => seen, open: () => sockets.size, close: () => close(server, sockets) };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver does not listen on TCP');
  return address.port;
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  sockets.forEach((socket) => socket.destroy());
  server.close();
  await once(server, 'close');
}

/** Answers the first bytes of each connection with a fixed text and closes. */
export function answering(text: string): (socket: Socket) => void {
  return (socket) => void socket.once('data', () => socket.end(text));
}

/** Redirects to what `location` returns at the time of the request. */
export function redirecting(location: () => string): (socket: Socket) => void {
  return (socket) =>
    void socket.once('data', () =>
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location()}\r\ncontent-length: 0\r\n\r\n`),
    );
}

/** Sends `head`, then `piece` again and again: as fast as the other end takes it when `everyMs` is 0. */
export function neverEnding(head: string, piece: string | Buffer, everyMs: number): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.resume().write(head);
      const again = () => {
        if (socket.destroyed) return;
        if (everyMs > 0) socket.write(piece, () => setTimeout(again, everyMs));
        else socket.write(piece, again);
      };
      again();
    });
  };
}
