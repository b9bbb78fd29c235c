import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type BookedJob, createBooks, type OwnBooks, type RunningUpstream } from './upstream-books.ts';

// A FAKE: a server of docs/provider-protocol.md that makes no videos. Its jobs survive a restart, as the protocol demands.

const videoPath = fileURLToPath(import.meta.resolve('#assets/instant-clip.mp4'));

export type OwnUpstream = RunningUpstream & {
  readonly books: OwnBooks;
  /** The body of every PUT, in order. */
  readonly bodies: readonly unknown[];
};

/** What a job costs there. */
export const jobCost = { micros: 40_000, currency: 'USD' } as const;

export async function startOwnUpstream(options: { readonly key?: string } = {}): Promise<OwnUpstream> {
  const books = createBooks();
  const bodies: unknown[] = [];
  const listen = async (port: number) => {
    const server = createServer((request, response) => void answer({ books, bodies, ...options }, request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    address: `127.0.0.1:${port}`,
    books,
    bodies,
    videoPath,
    restart: async () => {
      await stop(server);
      server = await listen(port);
    },
    close: async () => await stop(server),
  };
}

export async function stop(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

type Service = { readonly books: OwnBooks; readonly bodies: unknown[]; readonly key?: string };

const pathPattern = /^\/jobs\/([0-9a-f-]{36})(\/video)?$/;

async function answer({ books, bodies, key }: Service, request: IncomingMessage, response: ServerResponse) {
  const body = await text(request).catch(() => undefined);
  if (body === undefined) return;
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
    return send(response, 401, fault('unauthorized'));
  const [, id = '', video] = pathPattern.exec(request.url ?? '') ?? [];
  if (request.method === 'PUT') {
    // The fake trusts what it is sent; the tests look at `bodies`.
    const sent = JSON.parse(body) as { readonly input: { readonly prompt: string } };
    bodies.push(sent);
    const isNew = books.find(id) === undefined;
    if (isNew) books.begin({ id, prompt: sent.input.prompt });
    return send(response, isNew ? 201 : 200, record(books.find(id)));
  }
  if (books.find(id) === undefined) return send(response, 404, fault('not_found'));
  if (request.method === 'DELETE') books.cancel(id);
  const job = books.find(id);
  if (video === undefined) return send(response, 200, record(job));
  if (job?.state !== 'succeeded') return send(response, 404, fault('not_found'));
  await sendVideo(request, response);
}

function fault(code: string) {
  return { error: { code, message: `The fake answers ${code}.` } };
}

function record(job: BookedJob | undefined) {
  if (job === undefined) return {};
  const { id, state: status } = job;
  if (status === 'running') return { id, status, progress: 50 };
  return { id, status, cost: jobCost, ...(status === 'failed' && fault('internal')) };
}

export function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export async function sendVideo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const video = await readFile(videoPath);
  const [, first] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  const start = Number(first ?? 0);
  const rest = video.subarray(start);
  const headers = { 'content-type': 'video/mp4', 'content-length': rest.length, etag: '"1"' };
  const range = { 'content-range': `bytes ${start}-${video.length - 1}/${video.length}` };
  response
    .writeHead(first === undefined ? 200 : 206, first === undefined ? headers : { ...headers, ...range })
    .end(rest);
}
