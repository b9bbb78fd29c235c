import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';
import { createProviderClient, type ProviderClientOptions } from '../../../src/platform/outbound/provider-client.ts';

const key = 'sk-/very+secret';
const credentials = () => ({ authorization: `Bearer ${key}` });
const { signal } = new AbortController();
const limits = { timeoutMs: 60_000, maxBytes: 100_000, signal };
const quick = { stallMs: 60_000, firstPauseMs: 1, maxPauseMs: 1 };

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;
type Seen = { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers'] };

/** An upstream, what it was asked, and over how many connections. */
async function serving(t: TestContext, answer: Answer, host = '127.0.0.1') {
  const seen: Seen[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    seen.push({ method, path, headers });
    void buffer(request).then((body) => answer(request, response, body));
  });
  server.on('connection', () => void (connections += 1));
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return { baseUrl: `http://${host}:${port}`, port, seen, connections: () => connections };
}

function clientOf(t: TestContext, baseUrl: string, more: Partial<ProviderClientOptions> = {}) {
  const client = createProviderClient({ baseUrl, credentials, downloadLimits: quick, ...more });
  t.after(() => client.close());
  return client;
}

async function newFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-provider-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'video');
}

const ok: Answer = (_request, response) => void response.end('{}');
const redirectTo =
  (location: string): Answer =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();

test('a call reaches the private origin of its upstream, with method, body, headers and credentials', async (t) => {
  let received = '';
  const upstream = await serving(t, (_request, response, body) => {
    received = body.toString();
    response.writeHead(422, { 'x-request-id': '7' }).end('no');
  });
  const client = clientOf(t, `${upstream.baseUrl}/api`, { headers: { 'x-version': '2024-11-06' } });
  const body = { contentType: 'application/json', bytes: '{"a":1}' };
  const answer = await client.call('PUT', '/jobs/1?x=y', { ...limits, body });
  assert.deepEqual([answer.status, answer.headers['x-request-id'], answer.body.toString()], [422, '7', 'no']);
  const [request] = upstream.seen;
  assert.deepEqual([request?.method, request?.path, received], ['PUT', '/api/jobs/1?x=y', body.bytes]);
  assert.equal(request?.headers.authorization, `Bearer ${key}`);
  assert.equal(request?.headers['x-version'], '2024-11-06');
  assert.equal(request?.headers['content-type'], 'application/json');
});

test('a call follows no redirect, not even within the origin', async (t) => {
  const upstream = await serving(t, redirectTo('/elsewhere'));
  const answer = await clientOf(t, upstream.baseUrl).call('GET', '/here', limits);
  assert.deepEqual([answer.status, upstream.seen.length], [302, 1]);
});

test('a call to another origin is refused before anything is sent', async (t) => {
  const upstream = await serving(t, ok);
  const other = await serving(t, ok, '127.0.0.2');
  const client = clientOf(t, upstream.baseUrl, { allow: parseAllowList('127.0.0.2') });
  assert.equal((await client.call('GET', `${upstream.baseUrl}/status`, limits)).status, 200);
  for (const url of [
    `${other.baseUrl}/status`,
    `http://127.0.0.1:${other.port}/`,
    `https://127.0.0.1:${upstream.port}/`,
    `http://127.0.0.1:${upstream.port}@127.0.0.2:${other.port}/`,
    'status',
    '',
  ]) {
    await assert.rejects(client.call('GET', url, limits), { kind: 'blocked', wasSent: false }, url);
  }
  assert.deepEqual([upstream.seen.length, other.seen.length], [1, 0]);
});

test('each request has a connection of its own', async (t) => {
  const upstream = await serving(t, ok);
  const client = clientOf(t, upstream.baseUrl);
  const call = (method: string) => client.call(method, '/', limits);
  for (const method of ['GET', 'GET', 'POST']) await call(method);
  assert.equal(upstream.connections(), 3);
});

test('metadata addresses and our own ports stay out of reach, also as the upstream', async (t) => {
  for (const baseUrl of ['http://169.254.169.254', 'http://[fd00:ec2::254]', 'http://168.63.129.16:80']) {
    await assert.rejects(clientOf(t, baseUrl).call('GET', '/', limits), { kind: 'blocked', wasSent: false });
  }
  const lookup = () => Promise.resolve(['169.254.169.254']);
  const named = clientOf(t, 'http://metadata.example', { lookup });
  await assert.rejects(named.call('GET', '/', limits), { kind: 'blocked' });
  const upstream = await serving(t, ok);
  const own = clientOf(t, upstream.baseUrl, { own: [{ host: '127.0.0.1', port: upstream.port }] });
  await assert.rejects(own.call('GET', '/', limits), { kind: 'blocked' });
  assert.equal(upstream.seen.length, 0);
});

test('answers and bodies are bounded', async (t) => {
  const upstream = await serving(t, ({ url = '' }, response) => void response.end(Buffer.alloc(Number(url.slice(1)))));
  const client = clientOf(t, upstream.baseUrl);
  assert.equal((await client.call('GET', `/${limits.maxBytes}`, limits)).body.length, limits.maxBytes);
  await assert.rejects(client.call('GET', `/${limits.maxBytes + 1}`, limits), { kind: 'too_large', wasSent: true });
  const send = (bytes: number) =>
    client.call('POST', '/0', { ...limits, body: { contentType: 'video/mp4', bytes: Buffer.alloc(bytes) } });
  assert.equal((await send(64_000_000)).status, 200);
  await assert.rejects(send(64_000_001), { kind: 'too_large', wasSent: false });
  assert.equal(upstream.seen.length, 3);
});

test('a download follows at most five redirects', async (t) => {
  const upstream = await serving(t, (request, response, body) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('the video');
    else redirectTo(`/${left - 1}`)(request, response, body);
  });
  const client = clientOf(t, upstream.baseUrl);
  const path = await newFile(t);
  await client.download('/5', path, { signal });
  assert.equal(await readFile(path, 'utf8'), 'the video');
  await assert.rejects(client.download('/6', path, { signal }), { kind: 'redirect' });
});

test('a key that an upstream repeats is not in the answer, and bytes that are no text stay as they are', async (t) => {
  const bytes = Buffer.from([0, 255, 128, 10]);
  const escaped = key.replaceAll('/', '\\/');
  const upstream = await serving(t, (_request, response) => {
    const said = `bad key ${key}, ${escaped}, ${encodeURIComponent(key)}, 8-letter, 7-lette `;
    response.writeHead(401).end(Buffer.concat([Buffer.from(said), bytes]));
  });
  const secretQuery = () => ({ long: '8-letter', short: '7-lette' });
  const { body } = await clientOf(t, upstream.baseUrl, { secretQuery }).call('GET', '/', limits);
  const shown = 'bad key [redacted], [redacted], [redacted], [redacted], 7-lette ';
  assert.deepEqual(body, Buffer.concat([Buffer.from(shown), bytes]));
});

test('secrets of the query go where the credentials go, and are not in an answer; a word too short for one is', async (t) => {
  const secrets = { key: 'query-secret-1', app: 'query-secret-2' };
  const sent = 'key=query-secret-1&app=query-secret-2';
  const repeat: Answer = (request, response) => void response.end(`${String(request.url)}, short-1`);
  const [upstream, storage] = [await serving(t, repeat), await serving(t, ok, '127.0.0.2')];
  const more = {
    credentials: () => ({ 'x-token': 'short-1' }),
    secretQuery: () => secrets,
    allow: parseAllowList('127.0.0.2'),
  };
  const client = clientOf(t, upstream.baseUrl, more);
  const { body } = await client.call('GET', '/jobs?x=1', limits);
  assert.equal(body.toString(), '/jobs?x=1&key=[redacted]&app=[redacted], short-1');
  const path = await newFile(t);
  await client.download('/video', path, { signal });
  await client.download(`${storage.baseUrl}/file`, path, { signal });
  const trusting = clientOf(t, upstream.baseUrl, { ...more, keyOrigins: [storage.baseUrl] });
  await trusting.download(`${storage.baseUrl}/file`, path, { signal });
  const shown = ({ path: at, headers }: Seen) => [at, headers['x-token']];
  assert.deepEqual(upstream.seen.map(shown), [
    [`/jobs?x=1&${sent}`, 'short-1'],
    [`/video?${sent}`, 'short-1'],
  ]);
  assert.deepEqual(storage.seen.map(shown), [
    ['/file', undefined],
    [`/file?${sent}`, 'short-1'],
  ]);
});

test('credentials are made for each request', async (t) => {
  const upstream = await serving(t, ok);
  let made = 0;
  const client = clientOf(t, upstream.baseUrl, { credentials: () => ({ 'x-token': `token-${(made += 1)}` }) });
  for (let i = 0; i < 2; i += 1) await client.call('GET', '/', limits);
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers['x-token']),
    ['token-1', 'token-2'],
  );
});

test('a download keeps the credentials within the origin, and drops them for good when a redirect leaves it', async (t) => {
  const moves: Record<string, string> = { '/video': '/moved' };
  const upstream = await serving(t, (request, response, body) => {
    const location = moves[request.url ?? ''];
    if (location === undefined) response.end('the video');
    else redirectTo(location)(request, response, body);
  });
  const storage = await serving(t, redirectTo(`${upstream.baseUrl}/back`), '127.0.0.2');
  moves['/moved'] = `${storage.baseUrl}/file`;
  const client = clientOf(t, upstream.baseUrl, {
    headers: { 'x-version': '1' },
    allow: parseAllowList('127.0.0.2'),
  });
  const path = await newFile(t);
  await client.download('/video', path, { signal });
  assert.equal(await readFile(path, 'utf8'), 'the video');
  const shown = ({ path: at, headers }: Seen) => [at, headers.authorization, headers['x-version']];
  assert.deepEqual(upstream.seen.map(shown), [
    ['/video', `Bearer ${key}`, '1'],
    ['/moved', `Bearer ${key}`, '1'],
    ['/back', undefined, undefined],
  ]);
  assert.deepEqual(storage.seen.map(shown), [['/file', undefined, undefined]]);
});

test('a download from another origin gets no credentials', async (t) => {
  const upstream = await serving(t, ok);
  const storage = await serving(t, (_request, response) => void response.end('the video'), '127.0.0.2');
  const path = await newFile(t);
  const client = clientOf(t, upstream.baseUrl, { allow: parseAllowList('127.0.0.2') });
  await client.download(`${storage.baseUrl}/file`, path, { signal });
  assert.deepEqual([storage.seen.length, storage.seen[0]?.headers.authorization], [1, undefined]);
});

test('a download reaches no private address but its upstream, neither directly nor by a redirect', async (t) => {
  const trap = await serving(t, ok, '127.0.0.2');
  const upstream = await serving(t, redirectTo(`${trap.baseUrl}/`));
  const client = clientOf(t, upstream.baseUrl);
  const path = await newFile(t);
  for (const url of ['/video', `${trap.baseUrl}/`, 'http://169.254.169.254/', 'file:///etc/passwd']) {
    await assert.rejects(client.download(url, path, { signal }), { kind: 'blocked' }, url);
  }
  assert.deepEqual([upstream.seen.length, trap.seen.length], [1, 0]);
});
