import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { fakeVideoPath, send, sendFakeVideo, startRestartableServer } from './restartable-server.ts';
import { type BookedJob, createBooks, type OwnBooks, type RunningUpstream } from './upstream-books.ts';

// A FAKE: a server of docs/providers/own.md that makes no videos. Its jobs survive a restart, as the protocol demands.

export type OwnUpstream = RunningUpstream & {
  readonly books: OwnBooks;
  /** The body of every PUT, in order. */
  readonly bodies: readonly unknown[];
  /** Jobs whose video was downloaded. */
  readonly downloads: readonly string[];
  /** Those of every request, in order. */
  readonly headers: readonly IncomingHttpHeaders[];
};

export const jobCost = { micros: 40_000, currency: 'USD' } as const;

export async function startOwnUpstream(options: Options = {}): Promise<OwnUpstream> {
  const books = createBooks();
  const bodies: unknown[] = [];
  const downloads: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = await startRestartableServer((request, response) => {
    headers.push(request.headers);
    return answer({ books, bodies, downloads, ...options }, request, response);
  });
  return {
    ...server,
    books,
    bodies,
    downloads,
    headers,
    videoPath: fakeVideoPath,
  };
}

type Options = {
  readonly key?: string;
  /** Reports every video as uploaded to `resultUpload`; the test uploads it. */
  readonly uploads?: boolean;
  /** The file that a job with this prompt delivers. */
  readonly videoOf?: (prompt: string) => string;
  /** Serves other bytes with each download: see `markedVideo`. */
  readonly marksDownloads?: boolean;
};
type Service = Options & { readonly books: OwnBooks; readonly bodies: unknown[]; readonly downloads: string[] };

const pathPattern = /^\/jobs\/([0-9a-f-]{36})(\/video)?$/;

async function answer(
  { books, bodies, downloads, key, uploads, marksDownloads, videoOf }: Service,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const body = await text(request).catch(() => undefined);
  if (body === undefined) return;
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
    return send(response, 401, fault('unauthorized'));
  const [, id = '', video] = pathPattern.exec(request.url ?? '') ?? [];
  if (request.method === 'PUT') {
    // The fake validates nothing; the tests check `bodies`.
    const sent = JSON.parse(body) as { readonly input: { readonly prompt: string } };
    bodies.push(sent);
    const isNew = books.find(id) === undefined;
    if (isNew) books.begin({ id, prompt: sent.input.prompt });
    return send(response, isNew ? 201 : 200, record(books.find(id), uploads));
  }
  if (books.find(id) === undefined) return send(response, 404, fault('not_found'));
  if (request.method === 'DELETE') books.cancel(id);
  const job = books.find(id);
  if (video === undefined) return send(response, 200, record(job, uploads));
  if (job?.state !== 'succeeded') return send(response, 404, fault('not_found'));
  downloads.push(id);
  if (marksDownloads !== true) return await sendFakeVideo(request, response, videoOf?.(job.prompt));
  const marked = markedVideo(id, downloads.filter((one) => one === id).length);
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': marked.length }).end(marked);
}

/** The video of a job's n-th download. It plays, and no other has its bytes. */
export function markedVideo(id: string, download: number): Buffer {
  const mark = Buffer.from(`${id} download ${download}`);
  // A box of MP4 that players skip: its length, its name and any content.
  const head = Buffer.alloc(8, 'free', 'latin1');
  head.writeUInt32BE(head.length + mark.length, 0);
  head.write('free', 4, 'latin1');
  return Buffer.concat([readFileSync(fakeVideoPath), head, mark]);
}

function fault(code: string) {
  return { error: { code, message: `The fake answers ${code}.` } };
}

function record(job: BookedJob | undefined, uploads = false) {
  if (job === undefined) return {};
  const { id, state: status } = job;
  if (status === 'running') return { id, status, progress: 50 };
  const uploaded = uploads && status === 'succeeded' && { uploaded: true };
  return { id, status, cost: jobCost, ...(status === 'failed' && fault('internal')), ...uploaded };
}
