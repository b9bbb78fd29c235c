import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from './wait-for.ts';

export type ReceivedCallback = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

export type CallbackReceiver = {
  readonly url: string;
  readonly received: readonly ReceivedCallback[];
  /** Waits until so many callbacks have come to a path. */
  waitForCallbacks(path: string, count: number): Promise<readonly ReceivedCallback[]>;
  close(): Promise<void>;
};

/** A client's receiver on loopback. `answer` says with which status; 204 by default. A GET of /image… answers `image`, or 404. */
export async function startCallbackReceiver(
  options: { answer?: (callback: ReceivedCallback) => number | Promise<number>; image?: Buffer } = {},
): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const found = options.image !== undefined && request.url?.startsWith('/image') === true;
      response.writeHead(found ? 200 : 404, { 'content-type': 'image/png' }).end(found ? options.image : undefined);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const callback = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(callback);
      void Promise.resolve(options.answer?.(callback) ?? 204).then((status) => response.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    waitForCallbacks: (path, count) =>
      waitFor(`${count} callbacks to ${path}`, () => {
        const come = received.filter((callback) => callback.path === path);
        return come.length >= count ? come : undefined;
      }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
