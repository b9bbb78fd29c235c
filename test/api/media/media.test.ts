import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ResultStore } from '../../../src/media/store/result-store.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { type Answer, assertRefused, type SendOptions } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

const key = 'results/0193/video.mp4';
/** Every byte depends on its position. */
const video = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));

let database: TestDatabase;
let folder: string;
let store: ResultStore;
let service: HttpService;
let now = Date.now();
before(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'videogen-media-'));
  store = createFolderStore(join(folder, 'results'), { publicUrl: 'http://x', now: () => now });
  service = await startHttpService({ database, resultStore: store, now: () => now });
  await put(key, video);
  await put('results/0193/poster.jpg', Buffer.from('a picture'));
  await writeFile(join(folder, 'outside.mp4'), 'secret');
});
after(async () => {
  await service.close();
  await database.close();
  await rm(folder, { recursive: true });
  assert.ok(!service.log.some((line) => line['failure'] === 'internal'), 'request crashed');
});

async function put(name: string, bytes: Buffer): Promise<void> {
  const source = join(folder, 'source');
  await writeFile(source, bytes);
  await store.put(name, source);
}

/** Path and query of a link, as a client sends them. */
function linkTo(name: string): string {
  return store.link(name).slice('http://x'.length);
}

function get(headers: SendOptions['headers'] = {}, path = linkTo(key), method = 'GET'): Promise<Answer> {
  return service.send(method, path, { headers });
}

test('200 the whole file, with all headers that a player needs', async () => {
  const { status, headers, bytes } = await get();
  assert.equal(status, 200);
  assert.ok(bytes.equals(video));
  const {
    date: _date,
    connection: _connection,
    etag,
    'last-modified': modified,
    'x-request-id': id,
    ...rest
  } = headers;
  assert.match(String(etag), /^"[\w-]+"$/, 'a strong tag, by which a download may be resumed');
  assert.ok(!Number.isNaN(Date.parse(String(modified))));
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  const expires = Number(/expires=(\d+)/.exec(linkTo(key))?.[1]);
  assert.equal(rest['cache-control'], `private, max-age=${Math.floor((expires * 1000 - now) / 1000)}`);
  delete rest['cache-control'];
  assert.deepEqual(rest, {
    'content-type': 'video/mp4',
    'content-length': '1000',
    'accept-ranges': 'bytes',
    'content-disposition': 'inline; filename="0193-video.mp4"',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
});

test('200 with download=1 a browser saves the file; anything else plays it', async () => {
  const dispositionOf = async (more: string) => (await get({}, `${linkTo(key)}${more}`)).headers['content-disposition'];
  assert.equal(await dispositionOf('&download=1'), 'attachment; filename="0193-video.mp4"');
  assert.equal(await dispositionOf('&download=0'), 'inline; filename="0193-video.mp4"');
});

test('200 a poster is served as the picture it is', async () => {
  const { headers, bytes } = await get({}, linkTo('results/0193/poster.jpg'));
  assert.deepEqual([headers['content-type'], bytes.toString()], ['image/jpeg', 'a picture']);
});

test('200 HEAD has the headers of GET and no body', async () => {
  const [whole, head] = [await get(), await get({}, linkTo(key), 'HEAD')];
  const { date: _a, 'x-request-id': _b, 'cache-control': _c, ...expected } = whole.headers;
  const { date: _d, 'x-request-id': _e, 'cache-control': _f, ...seen } = head.headers;
  assert.deepEqual([head.status, head.bytes.length, seen], [200, 0, expected]);
});

for (const [range, first, last] of [
  ['bytes=0-0', 0, 0],
  ['bytes=0-', 0, 999],
  ['bytes=10-19', 10, 19],
  ['bytes=999-', 999, 999],
  ['bytes=990-5000', 990, 999],
  ['bytes=-1', 999, 999],
  ['bytes=-100', 900, 999],
] as const) {
  test(`206 Range: ${range}`, async () => {
    const { status, headers, bytes } = await get({ range });
    assert.equal(status, 206);
    assert.equal(headers['content-range'], `bytes ${first}-${last}/1000`);
    assert.equal(headers['content-length'], String(last - first + 1));
    assert.ok(bytes.equals(video.subarray(first, last + 1)));
  });
}

test('206 HEAD of a range has the headers of the range', async () => {
  const { status, headers, bytes } = await get({ range: 'bytes=0-9' }, linkTo(key), 'HEAD');
  assert.deepEqual([status, headers['content-range'], bytes.length], [206, 'bytes 0-9/1000', 0]);
});

for (const range of [
  'bytes=0-1,5-6',
  'bytes=0-1,900-,3-4',
  'bytes=-1000',
  'bytes=-5000',
  'bytes=a-b',
  'bytes',
  'bytes=',
  'items=0-5',
  '0-5',
  `bytes=${'0-1,5-6,'.repeat(400)}9-9`,
]) {
  test(`200 several ranges, none that can be understood, or all there is, get the whole file: ${range.slice(0, 24)}`, async () => {
    const answer = await get({ range });
    assert.equal(answer.status, 200);
    assert.ok(answer.bytes.equals(video));
  });
}

for (const range of ['bytes=1000-', 'bytes=1000-2000', 'bytes=5-1', 'bytes=99999999999999999999-', 'bytes=-0']) {
  test(`416 a range beyond the end returns the size: ${range}`, async () => {
    const answer = await get({ range });
    assertRefused(answer, 416, /does not contain this range/);
    assert.equal(answer.headers['content-range'], 'bytes */1000');
    assert.equal(answer.headers['content-disposition'], undefined);
  });
}

test('206 or 200 If-Range: the rest of the same file, or all of another one', async () => {
  const { headers } = await get();
  const [etag, modified] = [String(headers.etag), String(headers['last-modified'])];
  for (const [ifRange, status] of [
    [etag, 206],
    [modified, 206],
    ['"another"', 200],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 200],
    ['nonsense', 200],
  ] as const) {
    assert.equal((await get({ range: 'bytes=0-9', 'if-range': ifRange })).status, status, ifRange);
  }
});

test('304 a file that the client has is not sent again, and 304 has no body', async () => {
  const { headers } = await get();
  for (const condition of [
    { 'if-none-match': String(headers.etag) },
    { 'if-none-match': '*' },
    { 'if-none-match': `"a", W/${String(headers.etag)}` },
    { 'if-modified-since': String(headers['last-modified']) },
  ]) {
    const answer = await get(condition);
    assert.deepEqual([answer.status, answer.bytes.length, answer.headers['content-type']], [304, 0, undefined]);
    assert.equal(answer.headers.etag, headers.etag);
  }
  assert.equal((await get({ 'if-none-match': '"another"' })).status, 200);
});

test('412 a condition on another version of the file', async () => {
  assertRefused(await get({ 'if-match': '"another"' }), 412, /has changed/);
});

test('200 a file that was replaced has another tag', async () => {
  const name = 'results/0193/replaced.mp4';
  await put(name, Buffer.from('one'));
  const earlier = await get({}, linkTo(name));
  await put(name, Buffer.from('two'));
  const later = await get({}, linkTo(name));
  assert.equal(later.bytes.toString(), 'two');
  assert.notEqual(later.headers.etag, earlier.headers.etag);
});

test('410 a valid link to a deleted file', async () => {
  const name = 'results/0199/video.mp4';
  await put(name, video);
  const link = linkTo(name);
  assert.equal((await get({}, link)).status, 200);
  await store.delete(name);
  assertRefused(await get({}, link), 410, /was deleted/);
  assertRefused(await get({ range: 'bytes=0-5' }, link), 410, /was deleted/);
});

const outside = [
  '/etc/passwd',
  '../outside.mp4',
  '../../outside.mp4',
  'results/../../outside.mp4',
  '..%2foutside.mp4',
  '%2e%2e/outside.mp4',
  '%2e%2e%2foutside.mp4',
  '..%5coutside.mp4',
  '..\\outside.mp4',
  '%252e%252e/outside.mp4',
  'results/0193/..%00/video.mp4',
  'results/0193/video.mp4%00',
  'results/0193/video.mp4%00.jpg',
  'results%2f0193%2fvideo.mp4',
  'results/0193/./video.mp4',
  'results//0193/video.mp4',
  '.drafts/x.mp4',
  'results/0193/',
  'results/0193',
  '',
  '%',
  '%ff',
  '%c0%ae%c0%ae/outside.mp4',
  'results/0193/VIDEO.mp4',
  'results/0193/poster.jpg',
];

test('403 all invalid links get the same response', async () => {
  const query = linkTo(key).slice(`/media/${key}`.length);
  const reference = await get({}, `/media/${key}`);
  assertRefused(reference, 403, /invalid or has expired/);
  const paths = [
    ...outside.map((name) => `/media/${name}${query}`),
    `/media/${key}`,
    `/media/${key}?`,
    `${linkTo(key)}A`,
    linkTo(key).slice(0, -1),
    linkTo(key).replace(/expires=\d+/, 'expires=9999999999'),
    linkTo(key).replace(/expires=\d+&/, ''),
    linkTo(key).replace(/&signature=.*/, ''),
    `${linkTo(key)}&expires=9999999999`,
    linkTo(key).replace('signature=', 'signature=x&signature='),
    linkTo('results/0000/never.mp4').replace('never', 'there'),
  ];
  for (const path of paths) {
    const answer = await get({}, path);
    assertRefused(answer, 403, /invalid or has expired/);
    assert.equal(answer.bytes.toString(), reference.bytes.toString(), path);
    assert.ok(!('access-control-allow-origin' in answer.headers));
  }
});

test('403 an expired link', async () => {
  const link = linkTo(key);
  const realNow = now;
  try {
    now += 24 * 60 * 60_000 - 1_000;
    assert.equal((await get({}, link)).status, 200);
    now += 1_000;
    assertRefused(await get({}, link), 403, /expired/);
  } finally {
    now = realNow;
  }
});

test('200 a page on another site may ask for ranges', async () => {
  const answer = await get(
    { origin: 'https://elsewhere.example', 'access-control-request-headers': 'range' },
    linkTo(key),
    'OPTIONS',
  );
  assert.equal(answer.json.code, 200);
  const { headers } = answer;
  const sent = Object.entries(headers).filter(([name]) => /^(?:allow|access-control-.*|cross-origin-.*)$/.test(name));
  assert.deepEqual(Object.fromEntries(sent), {
    allow: 'GET, HEAD, OPTIONS',
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    'access-control-allow-headers': 'Range, If-Range, If-None-Match',
    'access-control-max-age': '86400',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id',
    'cross-origin-resource-policy': 'cross-origin',
  });
});
