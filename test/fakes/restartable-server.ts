import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';

// Shared by the fakes: a server that dies and comes back at its address, and the video that upstreams deliver.

export const fakeVideoPath = fileURLToPath(import.meta.resolve('#assets/instant-clip.mp4'));

export type RestartableServer = {
  /** host:port */
  readonly address: string;
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** `forget` does what a restart does to the memory of the upstream. */
export async function startRestartableServer(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  forget: () => Promise<void> = () => Promise.resolve(),
): Promise<RestartableServer> {
  // Nothing else takes this port while the server is down.
  const port = await reserveFreePort();
  const listen = async () => {
    const server = createServer((request, response) => {
      answer(request, response).catch(() => response.destroy());
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await listen();
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    address: `127.0.0.1:${port}`,
    restart: async () => {
      await stop();
      await forget();
      server = await listen();
    },
    close: stop,
  };
}

export function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Sends the video, or its rest from the start of a range; the head alone for HEAD. */
export async function sendFakeVideo(
  request: IncomingMessage,
  response: ServerResponse,
  path = fakeVideoPath,
): Promise<void> {
  const video = await readFile(path);
  const [, first] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  const rest = video.subarray(Number(first ?? 0));
  const headers = { 'content-type': 'video/mp4', 'content-length': rest.length, etag: '"1"' };
  const range = { 'content-range': `bytes ${first ?? 0}-${video.length - 1}/${video.length}` };
  response.writeHead(first === undefined ? 200 : 206, first === undefined ? headers : { ...headers, ...range });
  response.end(request.method === 'HEAD' ? undefined : rest);
}
