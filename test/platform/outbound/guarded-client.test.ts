import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../../src/platform/outbound/guarded-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

// Behavior toward servers that are not hostile. For those that are, see test/platform/outbound/hostile.

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serving(t: TestContext, answer: Answer, options: Partial<GuardedClientOptions> = {}) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createGuardedClient({ allow: parseAllowList('127.0.0.1'), ...options });
  t.after(async () => {
    await client.close();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return { client, seen, url: `http://127.0.0.1:${port}` };
}

const timeoutMs = 60_000;
const getOptions = { timeoutMs, maxBytes: 1_000, maxRedirects: 2 };
const postOptions = { timeoutMs, headers: {}, body: '{}', maxResponseBytes: 1_000 };
const requestOptions = { timeoutMs, headers: {}, maxBytes: 1_000 };

test('a redirect is followed for each status that is one, and no other', async (t) => {
  const { client, url } = await serving(t, ({ url: path = '' }, response) => {
    const status = Number(path.slice(1));
    if (path === '/there') response.end('there');
    else response.writeHead(status, { location: '/there' }).end(status === 304 ? undefined : 'here');
  });
  for (const status of [301, 302, 303, 307, 308]) {
    const answer = await client.get(`${url}/${status}`, getOptions);
    assert.deepEqual([answer.status, answer.body.toString()], [200, 'there'], String(status));
  }
  for (const status of [300, 304, 305]) assert.equal((await client.get(`${url}/${status}`, getOptions)).status, status);
});

test('redirects are followed as far as the caller says, and one without a place is an error', async (t) => {
  const { client, url, seen } = await serving(t, ({ url: path = '' }, response) => {
    const left = Number(path.slice(1));
    if (left === 0) response.end('there');
    else response.writeHead(302, left > 5 ? {} : { location: `${left - 1}` }).end();
  });
  assert.equal((await client.get(`${url}/2`, getOptions)).body.toString(), 'there');
  await assert.rejects(client.get(`${url}/3`, getOptions), { kind: 'redirect', detail: 'more than 2 redirects' });
  assert.equal(seen.length, 6);
  await assert.rejects(client.get(`${url}/9`, getOptions), {
    kind: 'redirect',
    detail: 'status 302 without a location',
  });
});

test('a host is named without the final dot of its full name', async (t) => {
  const lookup = () => Promise.resolve(['127.0.0.1']);
  const { client, url, seen } = await serving(t, (_request, response) => void response.end(), {
    allow: parseAllowList('full.example'),
    lookup,
  });
  const { port } = new URL(url);
  await client.get(`http://full.example.:${port}/`, getOptions);
  assert.equal(seen[0]?.headers.host, `full.example:${port}`);
});

// Other systems have one loopback address.
const skip = process.platform === 'linux' ? false : 'this system has one loopback address';

test('at most four addresses of a host are tried', { skip }, async (t) => {
  let dead = 3;
  const lookup = () =>
    Promise.resolve([...Array.from({ length: dead }, (_, index) => `127.0.0.${index + 2}`), '127.0.0.1']);
  const allow = parseAllowList('many.example');
  const { client, url } = await serving(t, (_request, response) => void response.end('there'), { allow, lookup });
  const manyUrl = url.replace('127.0.0.1', 'many.example');
  assert.equal((await client.get(manyUrl, getOptions)).body.toString(), 'there');
  dead = 4;
  await assert.rejects(client.get(manyUrl, getOptions), { kind: 'connect' });
});

test('sixteen exchanges with one host run at a time, 64 wait, and more are refused', async () => {
  let lookups = 0;
  const lookup = () => {
    lookups += 1;
    return new Promise<never>(() => {});
  };
  const client = createGuardedClient({
    allow: parseAllowList(''),
    lookup,
    lookupTimeoutMs: timeoutMs,
    maxWaitMs: timeoutMs,
  });
  const post = () => client.post('http://slow.example/', postOptions);
  const outcomes = Promise.allSettled(Array.from({ length: 16 + 64 }, post));
  await assert.rejects(post(), { kind: 'busy' });
  assert.equal(lookups, 16);
  await client.close();
  await outcomes;
});

test('a get has the body of a success alone, a request that of every status', async (t) => {
  const { client, url } = await serving(t, ({ url: path = '' }, response) => {
    response.writeHead(Number(path.slice(1)), { 'x-name': 'value' }).end('body');
  });
  for (const [status, got] of [
    [200, 'body'],
    [299, 'body'],
    [300, ''],
    [404, ''],
    [500, ''],
  ] as const) {
    const answers = [
      await client.get(`${url}/${status}`, getOptions),
      await client.request('GET', `${url}/${status}`, requestOptions),
    ];
    for (const { status: answered, headers } of answers)
      assert.deepEqual([answered, headers['x-name']], [status, 'value']);
    assert.deepEqual(
      answers.map(({ body }) => body.toString()),
      [got, 'body'],
    );
  }
});

test('a download makes a new file of a success, and none of another status', async (t) => {
  const { client, url } = await serving(t, ({ url: path = '' }, response) => {
    response.writeHead(Number(path.slice(1))).end('body');
  });
  const folder = await temporaryFolder(t);
  const download = (status: number, name: string) =>
    client.download(`${url}/${status}`, join(folder, name), getOptions);
  assert.equal((await download(200, 'a')).status, 200);
  assert.equal(await readFile(join(folder, 'a'), 'utf8'), 'body');
  await assert.rejects(download(200, 'a'));
  assert.equal((await download(404, 'b')).status, 404);
  await assert.rejects(readFile(join(folder, 'b')), { code: 'ENOENT' });
});

test('a request has its method, path, body and headers, and names the sender', async (t) => {
  const bodies: string[] = [];
  const answer: Answer = (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => (body += part));
    request.on('end', () => {
      bodies.push(body);
      response.end();
    });
  };
  const { client, url, seen } = await serving(t, answer);
  const { client: named, url: other, seen: seenOfOther } = await serving(t, answer, { userAgent: 'Films' });
  await client.request('PUT', `${url}/a?b=c`, { ...requestOptions, headers: { 'x-a': '1' }, body: 'put' });
  await client.get(url, { ...getOptions, headers: { 'x-a': '2' } });
  await client.post(url, { ...postOptions, headers: { 'user-agent': 'given' }, body: 'post' });
  await named.post(other, postOptions);
  assert.deepEqual(
    [...seen, ...seenOfOther].map(({ method, url: path, headers }) => [
      method,
      path,
      headers['user-agent'],
      headers['x-a'],
      headers['accept-encoding'],
    ]),
    [
      ['PUT', '/a?b=c', 'Videogen', '1', 'identity'],
      ['GET', '/', 'Videogen', '2', 'identity'],
      ['POST', '/', 'given', undefined, undefined],
      ['POST', '/', 'Films', undefined, undefined],
    ],
  );
  assert.deepEqual(bodies, ['put', '', 'post', '{}']);
});

test('of one host sixteen exchanges run and sixty-four wait, unless the client says otherwise', async (t) => {
  const { client, url, seen } = await serving(t, () => {});
  const all = Array.from({ length: 80 }, () => client.post(url, postOptions));
  const settled = Promise.allSettled(all);
  await assert.rejects(client.post(url, postOptions), { kind: 'busy' });
  await waitFor('the requests', () => (seen.length === 16 ? true : undefined));
  await client.close();
  assert.ok((await settled).every(({ status }) => status === 'rejected'));
  assert.equal(seen.length, 16);
});

test('the error of a callback says whether any client could reach all addresses of the receiver', async () => {
  for (const [addresses, isPublic] of [
    [['8.8.8.8'], true],
    [['8.8.8.8', '127.0.0.1'], false],
    [['127.0.0.1'], false],
  ] as const) {
    const client = createGuardedClient({
      allow: parseAllowList('receiver.example'),
      lookup: () => Promise.resolve(addresses),
    });
    const stop = new AbortController();
    // The look-up takes promises only, so it ends before this turn does, and nothing is connected to.
    setImmediate(() => stop.abort());
    const posting = client.post('http://receiver.example/', { ...postOptions, signal: stop.signal });
    await assert.rejects(posting, { kind: 'aborted', isPublic, wasSent: false });
  }
});

test('an answer from an address that only the list allows is not public', async (t) => {
  const { client, url } = await serving(t, (_request, response) => void response.end('ok'));
  const { status, body, isPublic } = await client.post(url, postOptions);
  assert.deepEqual([status, body.toString(), isPublic], [200, 'ok', false]);
});
