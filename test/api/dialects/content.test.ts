import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { StoreUnavailableError } from '../../../src/media/store/result-store.ts';
import { markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { isObject } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { madeUpMeasures } from '../../support/tasks/tasks.ts';
import { assertFailure } from './shape-failures.ts';

let folder: string;
let database: TestDatabase;
/** Sends the bytes; redirects, as an operator may choose; has a store that is unavailable. */
let sending: HttpService;
let redirecting: HttpService;
let broken: HttpService;
let key: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'videogen-content-'));
  database = await createTestDatabase();
  const resultStore = createFolderStore(join(folder, 'results'));
  const unavailable = { ...resultStore, sourceOf: () => Promise.reject(new StoreUnavailableError('down')) };
  sending = await startHttpService({ database, resultStore });
  redirecting = await startHttpService({ database, resultStore, redirectsContent: true });
  broken = await startHttpService({ database, resultStore: unavailable });
  ({ key } = await sending.newAccount(100_000));
});
after(async () => {
  for (const service of [sending, redirecting, broken]) await service.close();
  await database.close();
  await rm(folder, { recursive: true });
});

async function completed(): Promise<string> {
  const input = { prompt: 'A lighthouse', duration: 4 };
  const made: unknown = JSON.parse((await sending.create(key, { model: 'videogen-2.0-fast', input })).bytes.toString());
  assert.ok(isObject(made) && isObject(made['data']));
  const id = String(made['data']['taskId']);
  const [videoKey, posterKey] = [`results/${id}/video.mp4`, `results/${id}/poster.jpg`];
  for (const [name, text] of [
    [videoKey, '0123456789'],
    [posterKey, 'a poster'],
  ] as const) {
    await writeFile(join(folder, 'source'), text);
    await sending.deps.resultStore.put(name, join(folder, 'source'));
  }
  await completeTask(database.db, id, { ...madeUpMeasures, videoKey, posterKey });
  return id;
}

type Get = {
  readonly service?: HttpService;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
};

for (const [shape, videos] of [
  ['OpenAI', '/v1/videos'],
  ['OpenRouter', '/api/v1/videos'],
] as const) {
  const get = (id: string, { service = sending, headers = {}, method = 'GET' }: Get = {}) =>
    service.send(method, `${videos}/${id}/content`, { headers: { authorization: `Bearer ${key}`, ...headers } });

  describe(`the content of a video in ${shape}’s shape`, () => {
    test('200 has the bytes, also for a client that follows no redirect', async () => {
      const id = await completed();
      const { status, headers, bytes } = await get(id);
      assert.deepEqual([status, bytes.toString()], [200, '0123456789']);
      assert.deepEqual([headers['content-type'], headers['accept-ranges']], ['video/mp4', 'bytes']);
      assert.equal(headers['content-disposition'], `attachment; filename="${id}-video.mp4"`);
      const head = await get(id, { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers['content-length'], head.bytes.length], [200, '10', 0]);
    });

    test('206 has the range, and a changed or missing one is refused', async () => {
      const id = await completed();
      const part = await get(id, { headers: { range: 'bytes=2-4' } });
      assert.deepEqual([part.status, part.bytes.toString()], [206, '234']);
      assert.equal(part.headers['content-range'], 'bytes 2-4/10');
      const outside = await get(id, { headers: { range: 'bytes=10-' } });
      assertFailure(outside, 'range_not_satisfiable');
      assert.equal(outside.headers['content-range'], 'bytes */10');
      assertFailure(await get(id, { headers: { 'if-match': '"another"' } }), 'precondition_failed');
      const { headers } = await get(id);
      const unchanged = await get(id, { headers: { 'if-none-match': String(headers['etag']) } });
      assert.deepEqual([unchanged.status, unchanged.bytes.length], [304, 0]);
    });

    test('302 leads to the signed link where the operator chose it', async () => {
      const id = await completed();
      const { status, headers } = await get(id, { service: redirecting });
      assert.equal(status, 302);
      assert.match(String(headers.location), new RegExp(`^http://media.test/media/results/${id}/video.mp4\\?expires=`));
      await markMediaDeleted(database.db, id);
      assertFailure(await get(id, { service: redirecting }), 'media_deleted');
    });

    test('404 a file that is missing, 503 while the store is unavailable', async () => {
      const id = await completed();
      assertFailure(await get(id, { service: broken }), 'media_unavailable');
      await sending.deps.resultStore.delete(`results/${id}/video.mp4`);
      assertFailure(await get(id), 'media_missing');
    });
  });
}

test('the poster is the thumbnail', async () => {
  const id = await completed();
  const headers = { authorization: `Bearer ${key}` };
  const answer = await sending.send('GET', `/v1/videos/${id}/content?variant=thumbnail`, { headers });
  assert.deepEqual([answer.headers['content-type'], answer.bytes.toString()], ['image/jpeg', 'a poster']);
});

for (const [what, headers, method, expected] of [
  ['whole', {}, 'GET', { status: 200, range: undefined, text: '0123456789', contentRange: undefined }],
  [
    'of a range',
    { range: 'bytes=2-4' },
    'GET',
    { status: 206, range: 'bytes=2-4', text: '234', contentRange: 'bytes 2-4/10' },
  ],
  [
    'of a range of a file that may have changed',
    { range: 'bytes=2-4', 'if-range': '"a"' },
    'GET',
    { status: 200, range: undefined, text: '0123456789', contentRange: undefined },
  ],
  [
    'of a range for HEAD',
    { range: 'bytes=2-4' },
    'HEAD',
    { status: 206, range: 'bytes=2-4', text: '', contentRange: 'bytes 2-4/10' },
  ],
] as const) {
  test(`the bytes of a file in a bucket are passed on: ${what}`, async (t) => {
    const asked: unknown[] = [];
    const sourceOf: HttpService['deps']['resultStore']['sourceOf'] = (_link, verb, passing) => {
      asked.push([verb, passing]);
      const isPart = passing?.range !== undefined;
      const bytes = isPart ? '234' : '0123456789';
      return Promise.resolve({
        kind: 'stream',
        sizeBytes: bytes.length,
        body: verb === 'HEAD' ? undefined : Readable.from([Buffer.from(bytes)]),
        contentRange: isPart ? 'bytes 2-4/10' : undefined,
      });
    };
    const resultStore = { ...sending.deps.resultStore, sourceOf };
    const bucket = await startHttpService({ database, resultStore });
    t.after(() => bucket.close());
    const id = await completed();
    const answer = await bucket.send(method, `/v1/videos/${id}/content`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
    const { status, range, text, contentRange } = expected;
    assert.deepEqual([answer.status, answer.bytes.toString()], [status, text]);
    assert.deepEqual(asked, [[method, { range }]]);
    const sent = [
      'content-range',
      'accept-ranges',
      'content-length',
      'cache-control',
      'content-type',
      'content-disposition',
    ];
    assert.deepEqual(
      sent.map((name) => answer.headers[name]),
      [
        contentRange,
        'bytes',
        String(status === 206 ? 3 : 10),
        'private, max-age=0',
        'video/mp4',
        `attachment; filename="${id}-video.mp4"`,
      ],
    );
  });
}
