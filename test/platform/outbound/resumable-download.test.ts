import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { createProviderClient } from '../../../src/platform/outbound/provider-client.ts';
import type { ResumableLimits } from '../../../src/platform/outbound/resumable-download.ts';
import { untilTurn } from '../../support/until-turn.ts';
import { waitFor } from '../../support/wait-for.ts';
import { mockTimers } from '../../support/mock-timers.ts';

const video = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 251));
const other = Buffer.alloc(1_200, 'o');
const longestPauseMs = 2;

/** `path` is where the download goes. */
type Answer = (response: ServerResponse, request: IncomingMessage, path: string) => void;

type Stage = {
  readonly path: string;
  readonly faults: OutboundError[];
  /** `Range` and `If-Range` of each request. */
  readonly asked: (readonly [string | undefined, string | undefined])[];
  readonly download: (signal?: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** A download from a server that gives these answers one after the other, the last one again and again. */
async function stage(
  t: TestContext,
  answers: readonly Answer[],
  limits: Partial<ResumableLimits> = {},
): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-download-'));
  const path = join(folder, 'video');
  const asked: Stage['asked'] = [];
  const faults: OutboundError[] = [];
  const server = createServer((request, response) => {
    const ifRange = request.headers['if-range'];
    asked.push([request.headers.range, typeof ifRange === 'string' ? ifRange : undefined]);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    answer?.(response, request, path);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  const downloadLimits = { stallMs: 60_000, firstPauseMs: 1, maxPauseMs: longestPauseMs, ...limits };
  const client = createProviderClient({ baseUrl: `http://127.0.0.1:${port}`, downloadLimits });
  t.after(async () => {
    await client.close();
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true });
  });
  const onBreak = (fault: OutboundError) => void faults.push(fault);
  const download = async (signal = new AbortController().signal) =>
    await client.download('/video', path, { signal, onBreak });
  return { path, faults, asked, download, close: client.close };
}

/** The whole file, of which `sent` bytes are written before the connection breaks. */
const whole =
  (headers: Readonly<Record<string, string>> = {}, { of = video, sent = Infinity } = {}): Answer =>
  (response, _request, path) => {
    response.writeHead(200, { 'content-length': of.length, ...headers });
    response.write(of.subarray(0, sent));
    const isWritten = async () => ((await stat(path).catch(() => undefined))?.size === sent ? true : undefined);
    if (sent >= of.length) response.end();
    else void waitFor('the part', isWritten).then(() => response.destroy());
  };

type Lie = { readonly from?: number; readonly total?: number | '*'; readonly sent?: number; readonly etag?: string };

/** The rest that was asked for, or what a liar takes for it. */
const rest =
  (lie: Lie = {}): Answer =>
  (response, request) => {
    const asked = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
    const { from = asked, total = video.length, sent = video.length - from, etag = '"1"' } = lie;
    const range = `bytes ${from}-${video.length - 1}/${total}`;
    response.writeHead(206, { 'content-range': range, 'content-length': sent, etag });
    response.end(video.subarray(from, from + sent));
  };

const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end('not a video');

const tagged = { etag: '"1"' };

async function isWhole({ path }: Stage, expected = video): Promise<void> {
  assert.deepEqual(await readFile(path), expected);
}

test('a download that is not cut is one request for the whole file, which replaces what was there', async (t) => {
  const staged = await stage(t, [whole(tagged)]);
  await writeFile(staged.path, other);
  await staged.download();
  await isWhole(staged);
  assert.deepEqual(staged.asked, [[undefined, undefined]]);
});

test('a download that is cut goes on where it was, as often as need be', async (t) => {
  const staged = await stage(t, [whole(tagged, { sent: 400 }), rest({ sent: 300 }), rest()]);
  await staged.download();
  await isWhole(staged);
  assert.deepEqual(staged.asked, [
    [undefined, undefined],
    ['bytes=400-', '"1"'],
    ['bytes=700-', '"1"'],
  ]);
  assert.equal(staged.faults.length, 2);
});

test('without a strong tag the time of the last change tells whether it is the same file', async (t) => {
  const at = 'Sat, 21 Nov 2026 10:00:00 GMT';
  const staged = await stage(t, [
    whole({ etag: 'W/"1"', 'last-modified': at }, { sent: 400 }),
    whole({ 'last-modified': at }),
  ]);
  await staged.download();
  await isWhole(staged);
  assert.deepEqual(staged.asked[1], ['bytes=400-', at]);
});

test('without anything that tells whether it is the same file, it starts over', async (t) => {
  const staged = await stage(t, [whole({ etag: 'W/"1"' }, { sent: 400 }), whole()]);
  await staged.download();
  await isWhole(staged);
  assert.deepEqual(staged.asked[1], [undefined, undefined]);
});

for (const named of [{ 'content-encoding': 'gzip' }, {}]) {
  const which = Object.keys(named).length > 0 ? 'names' : 'does not name';
  test(`a compressed download that ${which} its encoding is decoded, and begins anew after a break, because its ranges are those of another file`, async (t) => {
    const packed = gzipSync(video);
    const answer =
      (sent: number): Answer =>
      (response) => {
        const headers = { etag: '"1"', ...named, 'content-length': packed.length };
        response.writeHead(200, headers);
        if (sent === packed.length) response.end(packed);
        else response.write(packed.subarray(0, sent), () => response.destroy());
      };
    const staged = await stage(t, [answer(packed.length - 30), answer(packed.length)]);
    await staged.download();
    await isWhole(staged);
    assert.deepEqual(staged.asked, [
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });
}

test('a rest that begins like a compressed file is the rest of the file', async (t) => {
  const film = Buffer.from(video);
  film.set([0x1f, 0x8b], 400);
  const restOfFilm: Answer = (response) => {
    response.writeHead(206, { 'content-range': 'bytes 400-999/1000', ...tagged }).end(film.subarray(400));
  };
  const staged = await stage(t, [whole(tagged, { of: film, sent: 400 }), restOfFilm]);
  await staged.download();
  await isWhole(staged, film);
  assert.equal(staged.asked.length, 2);
});

test('a file that has changed is fetched anew', async (t) => {
  const staged = await stage(t, [whole(tagged, { sent: 400 }), whole({ etag: '"2"' }, { of: other })]);
  await staged.download();
  await isWhole(staged, other);
});

for (const [title, lie] of [
  ['of another file', { etag: '"2"' }],
  ['from another place', { from: 300 }],
  ['of a file of another length', { total: 1_200 }],
  ['of a file of unknown length', { total: '*' }],
] as const) {
  test(`a part ${title} is not taken for the rest`, async (t) => {
    const staged = await stage(t, [whole(tagged, { sent: 400 }), rest(lie), whole(tagged)]);
    await staged.download();
    await isWhole(staged);
    assert.deepEqual(staged.asked[2], [undefined, undefined]);
  });
}

test('a part that nobody asked for is not taken for the file', async (t) => {
  const staged = await stage(t, [rest(), whole()]);
  await staged.download();
  await isWhole(staged);
});

test('a rest that is longer or shorter than it was said to be is not the end', async (t) => {
  const chunked: Answer = (response) => {
    response.writeHead(206, { 'content-range': 'bytes 400-999/1000', ...tagged }).end(other);
  };
  const staged = await stage(t, [whole(tagged, { sent: 400 }), chunked, whole(tagged, { sent: 900 }), rest()]);
  await staged.download();
  await isWhole(staged);
  assert.deepEqual(
    staged.asked.map(([range]) => range),
    [undefined, 'bytes=400-', undefined, 'bytes=900-'],
  );
});

test('a file that has become shorter than what was fetched is fetched anew', async (t) => {
  const staged = await stage(t, [
    whole(tagged, { sent: 900 }),
    status(416, { 'content-range': 'bytes */800' }),
    whole({}, { of: other }),
  ]);
  await staged.download();
  await isWhole(staged, other);
  assert.deepEqual(staged.asked[2], [undefined, undefined]);
});

const stallMs = 60_000;

async function sizeOf({ path }: Stage): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

test('a server that stalls, before its answer or within, is left and asked again', async (t) => {
  const within: Answer = (response) => {
    response.writeHead(200, { 'content-length': video.length, ...tagged }).write(video.subarray(0, 400));
  };
  const staged = await stage(t, [() => {}, within, rest()], { stallMs });
  mockTimers(t, { apis: ['setTimeout'] });
  const downloaded = staged.download();
  await untilTurn('the download', () => staged.asked.length === 1);
  t.mock.timers.tick(stallMs);
  await untilTurn('the download', () => staged.faults.length === 1);
  t.mock.timers.tick(longestPauseMs);
  await untilTurn('the download', () => staged.asked.length === 2);
  await untilTurn('the download', async () => (await sizeOf(staged)) === 400);
  t.mock.timers.tick(stallMs);
  await untilTurn('the download', () => staged.faults.length === 2);
  t.mock.timers.tick(longestPauseMs);
  await downloaded;
  await isWhole(staged);
  assert.deepEqual(
    staged.faults.map(({ kind }) => kind),
    ['timeout', 'timeout'],
  );
  assert.deepEqual(staged.asked[2], ['bytes=400-', '"1"']);
});

test('a server that is slow but goes on is not left', async (t) => {
  let answered: ServerResponse | undefined;
  const slow: Answer = (response) => {
    response.writeHead(200, { 'content-length': video.length });
    answered = response;
  };
  const staged = await stage(t, [slow], { stallMs });
  mockTimers(t, { apis: ['setTimeout'] });
  const downloaded = staged.download();
  await untilTurn('the download', () => answered !== undefined);
  for (let at = 0; at < video.length; at += 100) {
    answered?.write(video.subarray(at, at + 100));
    await untilTurn('the download', async () => (await sizeOf(staged)) === at + 100);
    // Two of these together are in time, all of them are not: a part may be in the file before its arrival has been noted.
    if (at + 100 < video.length) t.mock.timers.tick(0.4 * stallMs);
  }
  await downloaded;
  await isWhole(staged);
  assert.deepEqual(staged.faults, []);
});

test('failures that may pass are no end', async (t) => {
  for (const code of [500, 503, 408, 425, 429, 302, 204]) {
    const staged = await stage(t, [status(code), status(code), whole()]);
    await staged.download();
    await isWhole(staged);
    assert.equal(staged.faults.length, 2);
  }
});

test('three broken transfers without progress end the download, and progress starts the count again', async (t) => {
  const cut = whole(tagged, { sent: 400 });
  const staged = await stage(t, [cut, status(500), status(500), rest({ sent: 300 }), status(500), rest({ sent: 0 })]);
  await assert.rejects(staged.download(), { kind: 'closed' });
  assert.equal(staged.faults.length, 7);
});

for (const code of [400, 401, 403, 404, 409, 410, 451]) {
  test(`${code} says that the address is no longer good, also in the middle of a download`, async (t) => {
    const staged = await stage(t, [whole(tagged, { sent: 400 }), status(code)]);
    await assert.rejects(staged.download(), { message: `the address of the download answered ${code}` });
  });
}

test('a file that is too large is given up, said to be so or not', async (t) => {
  const limits = { maxBytes: 999 };
  const chunked: Answer = (response) => void response.writeHead(200).end(video);
  for (const answer of [whole(), chunked]) {
    const staged = await stage(t, [answer], limits);
    await assert.rejects(staged.download(), { kind: 'too_large' });
    assert.equal(staged.asked.length, 1);
  }
});

test('the signal ends a download with its own reason, while it waits and while it fetches', async (t) => {
  const reason = new Error('the deadline');
  for (const [answer, limits] of [
    [status(500), { firstPauseMs: 60_000, maxPauseMs: 60_000 }],
    [() => {}, {}],
  ] as const) {
    const staged = await stage(t, [answer], limits);
    const stop = new AbortController();
    const rejected = assert.rejects(staged.download(stop.signal), reason);
    await untilTurn('a request', () => staged.asked.length > 0);
    stop.abort(reason);
    await rejected;
  }
});

test('a client that is closed ends its downloads', async (t) => {
  const staged = await stage(t, [() => {}]);
  const rejected = assert.rejects(staged.download(), { kind: 'aborted' });
  await untilTurn('a request', () => staged.asked.length > 0);
  await staged.close();
  await rejected;
});
