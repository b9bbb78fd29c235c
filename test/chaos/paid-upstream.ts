import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { paidVideo, sha256Of } from './paid-video.ts';
import { type Manner, type MannerName, mannerIn, manners } from './upstream-manners.ts';

// A FAKE: no service of this kind exists. It stands for an upstream that is paid by the job, lives in the breaker's own
// process, so that no fault takes its memory, keeps books of every job, and answers as badly as each prompt asks for.

export type PaidJob = {
  readonly jobId: string;
  readonly taskId: string;
  readonly manner: MannerName;
  /** Unix milliseconds, as all times here. */
  readonly madeAt: number;
  state: 'running' | 'ended' | 'cancelled';
  endedAt: number | undefined;
  /** How often it was asked to stop. */
  cancels: number;
  /** Every time its end was told in full, in order. */
  readonly told: { readonly atMs: number; readonly end: 'succeeded' | 'failed' }[];
  /** Every time a video of it was served in full, in order. */
  readonly served: { readonly atMs: number; readonly sha256: string }[];
};

export type PaidUpstream = {
  readonly baseUrl: string;
  readonly jobs: readonly PaidJob[];
  /** How often it was bad, by kind. */
  readonly injected: ReadonlyMap<string, number>;
  /** Lets the running jobs of a task end. */
  finish(taskId: string): void;
  close(): Promise<void>;
};

type Books = {
  readonly jobs: PaidJob[];
  readonly counts: Map<string, number>;
  readonly injected: Map<string, number>;
  readonly waitsToBeTold: boolean;
};

/** A hanging answer is broken off after this; the provider waits for 5 s at most. */
const hangMs = 15_000;

/**
 * Starts it on loopback. `POST /jobs {reference, prompt}` makes a job, `GET /jobs?reference=` finds it again, `GET /jobs/ID`
 * tells how it stands, `POST /jobs/ID/cancel` stops it, `GET /videos/ID/N` is a video of it. When it `waitsToBeTold`, its
 * jobs end by `finish` alone.
 */
export async function startPaidUpstream({ waitsToBeTold = false } = {}): Promise<PaidUpstream> {
  const books: Books = { jobs: [], counts: new Map(), injected: new Map(), waitsToBeTold };
  const server = createServer((request, response) => {
    void bodyOf(request)
      .then((body) => route(books, request, body, response))
      // Whoever asked was killed in the middle of it.
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    jobs: books.jobs,
    injected: books.injected,
    finish: (taskId) => {
      for (const job of books.jobs) if (job.taskId === taskId) end(job, 'ended');
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  // What a stream of Node yields without an encoding.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function route(books: Books, request: IncomingMessage, body: string, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://upstream');
  const [, room, jobId, part] = url.pathname.split('/');
  const job = books.jobs.find((one) => one.jobId === jobId);
  if (jobId === undefined && request.method === 'POST') return create(books, body, response);
  if (jobId === undefined) return find(books, url.searchParams.get('reference'), response);
  if (job === undefined) return answer(response, 404, {});
  if (room === 'videos') return serve(books, job, Number(part), response);
  return part === 'cancel' ? cancel(books, job, response) : poll(books, job, response);
}

function create(books: Books, body: string, response: ServerResponse): void {
  const { reference, prompt } = JSON.parse(body) as { reference: string; prompt: string }; // what our provider sends
  const manner = mannerIn(prompt);
  const how = manners[manner].create;
  if (how !== 'plain') note(books, `create: ${how}`);
  if (how === 'refuse' && nth(books, `refusals ${reference}`) <= 2) return answer(response, 429, {});
  const job = makeJob(books, reference, manner);
  const made = { id: job.jobId };
  if (how === '500') return answer(response, 500, {});
  if (how === 'cut') return void response.destroy();
  if (how === 'hang') return hang(response);
  if (how === 'twice') return answerTwice(response, made, { id: `${job.jobId}-again` });
  answer(response, 201, made);
}

function makeJob(books: Books, taskId: string, manner: MannerName): PaidJob {
  const jobId = `paid-${books.jobs.length + 1}`;
  const job: PaidJob = {
    jobId,
    taskId,
    manner,
    madeAt: Date.now(),
    state: 'running',
    endedAt: undefined,
    cancels: 0,
    told: [],
    served: [],
  };
  books.jobs.push(job);
  const { seconds } = manners[manner];
  if (seconds < Infinity && !books.waitsToBeTold) setTimeout(() => end(job, 'ended'), seconds * 1_000).unref();
  return job;
}

function end(job: PaidJob, state: 'ended' | 'cancelled'): void {
  if (job.state !== 'running') return;
  job.state = state;
  job.endedAt = Date.now();
}

function find(books: Books, reference: string | null, response: ServerResponse): void {
  const ids = books.jobs.filter(({ taskId }) => taskId === reference).map(({ jobId }) => jobId);
  answer(response, 200, { ids });
}

function poll(books: Books, job: PaidJob, response: ServerResponse): void {
  const manner: Manner = manners[job.manner];
  const count = nth(books, `polls ${job.jobId}`);
  if (manner.poll === 'hang' && count === 2) return (note(books, 'poll: hang'), hang(response));
  if (manner.poll === 'stumble' && count <= stumbles.length) {
    const status = stumbles[count - 1];
    note(books, `poll: ${status ?? 'cut'}`);
    return status === undefined ? void response.destroy() : answer(response, status, {});
  }
  if (job.state !== 'ended') return answer(response, 200, { state: job.state });
  const told = endOf(manner, job);
  response.on('finish', () => job.told.push({ atMs: Date.now(), end: told.state }));
  answer(response, 200, told);
}

/** Answers to the first polls of a job; undefined breaks the connection. */
const stumbles = [429, 500, undefined, 503, 429] as const;

/** What it says about the end of a job, which may not be what it said before. */
function endOf({ end: how }: Manner, job: PaidJob): { state: 'succeeded' | 'failed'; path?: string } {
  const times = job.told.length;
  const succeeded = (video: number) => ({ state: 'succeeded', path: `/videos/${job.jobId}/${video}` }) as const;
  const failed = { state: 'failed' } as const;
  switch (how) {
    case 'failure':
      return failed;
    case 'failure, success':
      return times === 0 ? failed : succeeded(1);
    case 'success, failure':
      return times === 0 ? succeeded(1) : failed;
    case 'other address':
      return succeeded(times + 1);
    case 'success':
    case 'other bytes':
      break;
  }
  return succeeded(1);
}

function serve(books: Books, job: PaidJob, asked: number, response: ServerResponse): void {
  const isOther = manners[job.manner].end === 'other bytes' && job.served.length > 0;
  if (isOther) note(books, 'video: other bytes');
  const video = paidVideo(job.jobId, isOther ? job.served.length + 1 : asked);
  const sha256 = sha256Of(video);
  response.on('finish', () => job.served.push({ atMs: Date.now(), sha256 }));
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': video.length }).end(video);
}

function cancel(books: Books, job: PaidJob, response: ServerResponse): void {
  job.cancels += 1;
  const isObeyed = manners[job.manner].obeysCancel;
  if (isObeyed) end(job, 'cancelled');
  else note(books, 'cancel: refused');
  answer(response, isObeyed ? 200 : 409, {});
}

function hang(response: ServerResponse): void {
  setTimeout(() => response.destroy(), hangMs).unref();
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function answerTwice(response: ServerResponse, ...bodies: readonly object[]): void {
  const texts = bodies.map((body) => JSON.stringify(body));
  const head = (text: string) => `HTTP/1.1 201 Created\r\nContent-Length: ${text.length}\r\n\r\n`;
  response.socket?.end(texts.map((text) => head(text) + text).join(''));
}

function note(books: Books, what: string): void {
  const name = `upstream, ${what}`;
  books.injected.set(name, 1 + (books.injected.get(name) ?? 0));
}

function nth(books: Books, what: string): number {
  const count = 1 + (books.counts.get(what) ?? 0);
  books.counts.set(what, count);
  return count;
}
