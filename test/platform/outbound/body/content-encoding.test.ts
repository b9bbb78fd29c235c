import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../../../src/platform/outbound/guarded-client.ts';

const client = createGuardedClient({ allow: parseAllowList('127.0.0.1') });
let answer: (response: ServerResponse) => void;
const server = createServer((_request, response) => answer(response));
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(async () => {
  await client.close();
  server.close();
});

const plain = Buffer.from(JSON.stringify({ id: 'job-1', text: 'a boat '.repeat(500) }));
const limits = { timeoutMs: 60_000, maxBytes: plain.length, headers: {} };

function request(encoding: string | undefined, body: Buffer, maxBytes = plain.length) {
  const headers = encoding === undefined ? {} : { 'content-encoding': encoding };
  answer = (response) => void response.writeHead(200, headers).end(body);
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return client.request('GET', `http://127.0.0.1:${port}/`, { ...limits, maxBytes });
}

for (const [encoding, body] of [
  ['gzip', gzipSync(plain)],
  ['X-GZIP', gzipSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['gzip, br', brotliCompressSync(gzipSync(plain))],
  // These are not compressed, although the header names an encoding.
  ['gzip', plain],
  ['identity', plain],
  ['utf-8', plain],
  ['aws-chunked', plain],
  // A bucket serves a file as it was stored.
  [undefined, gzipSync(plain)],
  ['identity', gzipSync(plain)],
] as const)
  test(`an answer with the encoding ${encoding ?? 'of no header'} (${body.length} bytes) is decoded`, async () => {
    assert.ok((await request(encoding, body)).body.equals(plain));
  });

test('an empty answer with an encoding is empty', async () => {
  for (const encoding of ['gzip', 'br', 'deflate'])
    assert.equal((await request(encoding, Buffer.alloc(0))).body.length, 0);
});

test('the limit is that of the decoded bytes', async () => {
  const zeros = Buffer.alloc(5_000_000);
  for (const [encoding, body] of [
    ['gzip', gzipSync(zeros)],
    ['br', brotliCompressSync(zeros)],
    ['gzip, gzip', gzipSync(gzipSync(zeros))],
    [undefined, gzipSync(zeros)],
  ] as const)
    await assert.rejects(request(encoding, body, 60_000), { name: 'OutboundError', kind: 'too_large' });
});

test('an encoding that cannot be decoded is named', async () => {
  // The encodings that IANA lists besides those that are decoded.
  for (const name of ['zstd', 'compress', 'dcb', 'dcz'])
    for (const encoding of [name, `gzip, ${name}`, `X-${name.toUpperCase()}`])
      await assert.rejects(request(encoding, plain), { name: 'OutboundError', kind: 'encoding', detail: name });
  const nested = 'gzip, gzip, gzip, gzip';
  await assert.rejects(request(nested, plain), { name: 'OutboundError', kind: 'encoding', detail: nested });
});

test('an answer that is cut off or damaged is an error', async () => {
  const packed = gzipSync(plain);
  await assert.rejects(request('gzip', packed.subarray(0, packed.length - 20)), { kind: 'closed' });
  await assert.rejects(request('gzip', Buffer.from(packed).fill(0xff, 12, 40)), { kind: 'protocol' });
  await assert.rejects(request('br', Buffer.alloc(64, 0xff)), { kind: 'protocol' });
});
