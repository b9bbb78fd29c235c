import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../../src/api/core/request-context-and-responses.ts';
import { refuseMalformed } from '../../../src/api/core/middleware/malformed-requests.ts';

/** A request with these headers, of which Node keeps the first of each name. */
async function send(lines: readonly (readonly [name: string, value: string])[], httpVersion = '1.1', path = '/') {
  const headers = Object.fromEntries(lines.toReversed().map(([name, value]) => [name.toLowerCase(), value]));
  const req = { httpVersion, headers, rawHeaders: lines.flat() };
  let isPassed = false;
  // the parts of a context that are read
  await refuseMalformed({ originalUrl: path, req } as unknown as Context, async () => void (isPassed = true));
  return isPassed;
}

const host = ['Host', 'videogen.example'] as const;

test('400 a header that decides who asks for what is given twice, of which a proxy may have judged the other', async () => {
  for (const name of ['Host', 'Authorization', 'Content-Type']) {
    const twice = [[name, 'a'] as const, [name.toLowerCase(), 'b'] as const];
    const lines = name === 'Host' ? twice : [host, ...twice];
    const msg = `the header ${name.toLowerCase()} is given twice`;
    await assert.rejects(send(lines), {
      code: 'malformed_request',
      envelope: { code: 400, msg, error: 'malformed_request', data: {} },
    });
  }
  assert.ok(await send([host, ['Accept', 'a'], ['Accept', 'b']]));
});

test('400 a request of HTTP/1.1 names its host; one of HTTP/1.0 need not', async () => {
  await assert.rejects(send([]), { code: 'malformed_request' });
  assert.ok(await send([], '1.0'));
});

test('400 a body whose length a proxy may read otherwise', async () => {
  for (const [coding, version] of [
    ['gzip, chunked', '1.1'],
    ['chunked', '1.0'],
  ] as const)
    await assert.rejects(send([host, ['Transfer-Encoding', coding]], version), {
      code: 'malformed_request',
      headers: { Connection: 'close' },
    });
  assert.ok(await send([host, ['Transfer-Encoding', 'Chunked']]));
});

test('414 an address longer than 8192 characters', async () => {
  assert.ok(await send([host], '1.1', '/'.repeat(8192)));
  await assert.rejects(send([host], '1.1', '/'.repeat(8193)), { code: 'url_too_long' });
});
