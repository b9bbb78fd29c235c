import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { fakeVideoPath } from '../test/fakes/restartable-server.ts';

// A separate process that fakes Ark with as little work as possible. A job
// whose prompt contains the word `hold` runs until the bench releases it by its
// prompt. The process sends a message when a job begins and when it is done. It
// counts polls per second.

type Job = { readonly id: string; readonly prompt: string; isDone: boolean };

const jobs = new Map<string, Job>();
const byPrompt = new Map<string, Job>();
const polls = new Map<number, number>();
const video = readFileSync(fakeVideoPath);
const base = '/contents/generations/tasks';

const wordSchema = z.union([z.object({ release: z.string() }), z.object({ ask: z.literal('polls') })]);

process.on('message', (said) => {
  const word = wordSchema.parse(said);
  if ('release' in word) release(word.release);
  if ('ask' in word) process.send?.({ polls: [...polls].map(([second, count]) => ({ second, count })) });
});

const server = createServer((request, response) => {
  void answer(request, response).catch(() => response.destroy());
}).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  process.send?.({ baseUrl: `http://127.0.0.1:${port}` });
});
process.once('SIGTERM', () => process.exit(0));
// The bench was interrupted.
process.once('disconnect', () => process.exit(0));

const createSchema = z.object({ content: z.array(z.object({ text: z.string() })) });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://fake');
  if (pathname === '/video.mp4') {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': video.length }).end(video);
    return;
  }
  const origin = `http://${request.headers.host}`;
  if (request.method === 'POST') return create(await text(request), response);
  const second = Math.floor(Date.now() / 1000);
  polls.set(second, (polls.get(second) ?? 0) + 1);
  if (pathname !== base) return send(response, recordOf(jobs.get(pathname.slice(base.length + 1)), origin));
  const items = searchParams.getAll('filter.task_ids').map((id) => recordOf(jobs.get(id), origin));
  send(response, { total: items.length, items });
}

function create(body: string, response: ServerResponse): void {
  const { content } = createSchema.parse(JSON.parse(body));
  const [{ text: prompt } = { text: '' }] = content;
  const id = `cgt-20261122${String(jobs.size).padStart(6, '0')}-bench`;
  const job = { id, prompt, isDone: !prompt.includes('hold') };
  jobs.set(job.id, job);
  byPrompt.set(job.prompt, job);
  send(response, { id: job.id });
  process.send?.({ began: job.prompt });
}

function release(prompt: string): void {
  const job = byPrompt.get(prompt);
  if (job === undefined) return;
  job.isDone = true;
  process.send?.({ done: prompt, at: performance.timeOrigin + performance.now() });
}

/** Returns a record that is about as long as a real one. */
function recordOf(job: Job | undefined, origin: string): object {
  if (job === undefined) return {};
  const usage = { completion_tokens: 108_900, total_tokens: 108_900 };
  const done = { content: { video_url: `${origin}/video.mp4?X-Tos-Signature=${'x'.repeat(400)}` }, usage };
  return {
    id: job.id,
    model: 'dreamina-seedance-2-0-fast-260128',
    status: job.isDone ? 'succeeded' : 'running',
    ...(job.isDone && done),
    error: null,
    created_at: 1_795_000_000,
    updated_at: 1_795_000_000,
    resolution: '720p',
    ratio: '16:9',
    duration: 4,
    framespersecond: 24,
    service_tier: 'default',
    execution_expires_after: 172_800,
    generate_audio: true,
    safety_identifier: 'f'.repeat(64),
  };
}

function send(response: ServerResponse, body: object): void {
  const bytes = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) };
  response.writeHead(200, headers).end(bytes);
}
