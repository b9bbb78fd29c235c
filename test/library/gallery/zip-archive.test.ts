import { unzipSync } from 'fflate';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { maxArchived, zipOfFiles } from '../../../src/library/gallery/zip-archive.ts';
import { markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { openFiles } from '../../support/processes/open-files.ts';
import { waitFor } from '../../support/wait-for.ts';
import { assertRefused, clientOf, storeVideo } from './gallery-stage.ts';

/** Its standard library verifies the checksums of an archive; fflate does not. */
const hasPython = spawnSync('python3', ['-c', 'import zipfile']).status === 0;

let service: HttpService;
let folder: string;
before(async () => {
  service = await startHttpService();
  folder = await mkdtemp(join(tmpdir(), 'videogen-archive-'));
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function newClient() {
  const { accountId, key } = await service.newAccount(1_000_000);
  const client = clientOf(service, key);
  const link = async (taskIds: readonly string[]) => {
    const { url } = await client.data('archive', { taskIds });
    return String(url).slice('http://media.test'.length);
  };
  return { accountId, ...client, link };
}

const open = (path: string) => service.send('GET', path, {});

test('200 an archive has each video as it is stored, under its day, model and id, and announces its size', async () => {
  const { videos, archive } = await archiveOfTwo();
  const { status, headers, bytes } = archive;
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/zip');
  assert.equal(headers['content-length'], String(bytes.length));
  assert.equal(headers['cache-control'], 'no-store');
  assert.match(String(headers['content-disposition']), /^attachment; filename="videos-\d{4}-\d\d-\d\d\.zip"$/);
  const files = Object.entries(unzipSync(bytes)).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const [one, two] = videos.map(({ taskId }) => taskId.slice(-8));
  // Behind the days, which differ if one of them has just begun.
  assert.deepEqual(
    files.map(([name]) => name.replace(/^\d{4}-\d\d-\d\d-/, '')),
    [`maker-model-2-${two}.mp4`, `videogen-2.0-fast-${one}.mp4`],
  );
  assert.deepEqual(
    files.map(([, content]) => createHash('sha256').update(content).digest('hex')),
    [videos[1]?.sha256, videos[0]?.sha256],
  );
});

test(
  'an archive passes the checksums of another program',
  { skip: !hasPython && 'python3, which verifies them, is not installed' },
  async () => {
    const { archive } = await archiveOfTwo();
    const file = join(folder, 'videos.zip');
    await writeFile(file, archive.bytes);
    const verify = 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).testzip())';
    assert.equal(execFileSync('python3', ['-c', verify, file], { encoding: 'utf8' }), 'None\n');
  },
);

test('an archive breaks if a video has another length than it announced, or cannot be opened', async () => {
  const modifiedAt = new Date();
  const entry = (sizeBytes: number, source: () => Promise<Readable>) =>
    zipOfFiles([{ name: 'a.mp4', sizeBytes, modifiedAt, open: source }]);
  const three = async () => Readable.from([Buffer.from('abc')]);
  const { body, sizeBytes } = await entry(3, three);
  assert.equal((await buffer(body)).length, sizeBytes);
  for (const announced of [2, 4]) await assert.rejects(buffer((await entry(announced, three)).body), /bytes|size/);
  const missing = () => Promise.reject(new Error('the video is missing'));
  await assert.rejects(buffer((await entry(3, missing)).body), /the video is missing/);
});

test('an archive whose reader leaves closes the entry that it reads, and opens no further one', async () => {
  const opened: Readable[] = [];
  const endless = async () => {
    const source = new Readable({ read: () => source.push(Buffer.alloc(1_000)) });
    opened.push(source);
    return source;
  };
  const entry = { sizeBytes: 1e9, modifiedAt: new Date(), open: endless };
  const { body } = await zipOfFiles([
    { ...entry, name: 'a.mp4' },
    { ...entry, name: 'b.mp4' },
  ]);
  await once(body, 'readable');
  const [source] = opened;
  assert.ok(source);
  body.destroy();
  await waitFor('the end of the entry', () => source.destroyed || undefined);
  assert.equal(opened.length, 1);
});

test('an archive whose reader left while an entry was opened closes that entry', async () => {
  let give = (_source: Readable) => {};
  const opened = new Promise<Readable>((resolve) => (give = resolve));
  const { body } = await zipOfFiles([{ name: 'a.mp4', sizeBytes: 3, modifiedAt: new Date(), open: () => opened }]);
  body.destroy();
  await once(body, 'close');
  const source = new Readable({ read: () => {} });
  give(source);
  await waitFor('the end of the entry', () => source.destroyed || undefined);
});

test('an archive has the time of each video', async () => {
  const bytesOf = async (modifiedAt: Date) => {
    const entry = { name: 'a.mp4', sizeBytes: 3, modifiedAt, open: async () => Readable.from([Buffer.from('abc')]) };
    return buffer((await zipOfFiles([entry])).body);
  };
  const day = (ofMonth: number) => new Date(Date.UTC(2026, 0, ofMonth));
  assert.deepEqual(await bytesOf(day(1)), await bytesOf(day(1)));
  assert.notDeepEqual(await bytesOf(day(1)), await bytesOf(day(2)));
});

async function archiveOfTwo() {
  const { accountId, link } = await newClient();
  const videos = [
    await storeVideo(service, accountId, 'one', { size: 300_000 }),
    await storeVideo(service, accountId, 'two', { model: 'maker/ model:2' }),
  ];
  return { videos, archive: await open(await link(videos.map(({ taskId }) => taskId))) };
}

test('200 ids in upper case are the same ids', async () => {
  const { accountId, link } = await newClient();
  const { taskId } = await storeVideo(service, accountId, 'upper');
  // Links that are made in different seconds have different ends and signatures.
  const named = async (taskIds: readonly string[]) => {
    const url = new URL(await link(taskIds), service.url);
    for (const name of ['expires', 'signature']) url.searchParams.delete(name);
    return url.href;
  };
  assert.equal(await named([taskId.toUpperCase(), taskId]), await named([taskId]));
  assert.equal((await open(await link([taskId.toUpperCase()]))).status, 200);
});

test('200 a link lasts ten minutes, and its response has the bytes of the videos', async () => {
  const { accountId, data } = await newClient();
  const videos = [
    await storeVideo(service, accountId, 'one', { size: 700 }),
    await storeVideo(service, accountId, 'two', { size: 50 }),
  ];
  const earliest = Date.now() + 600_000;
  const { url, bytes, expireTime } = await data('archive', { taskIds: videos.map(({ taskId }) => taskId) });
  const latest = Date.now() + 600_000;
  assert.equal(bytes, 750);
  assert.ok(Number(expireTime) >= earliest && Number(expireTime) <= latest);
  const expires = Number(new URL(String(url)).searchParams.get('expires')) * 1000;
  assert.ok(expires > earliest - 1000 && expires < latest + 1000, 'the link itself ends in ten minutes');
});

test('404 videos of another account, and 422 more than 50', async () => {
  const { accountId, request } = await newClient();
  const other = await newClient();
  const { taskId } = await storeVideo(service, accountId, 'own');
  const { taskId: foreign } = await storeVideo(service, other.accountId, 'foreign');
  assertRefused(await request('archive', { taskIds: [taskId, foreign] }), 404, 'task_not_found');
  const many = Array.from({ length: maxArchived }, () => taskId);
  assert.equal((await request('archive', { taskIds: many })).status, 200);
  assertRefused(await request('archive', { taskIds: [...many, taskId] }), 422, 'invalid_request');
});

test('403 a link that was altered, 410 one whose video was deleted since', async () => {
  const { accountId, link } = await newClient();
  const [one, two] = [await storeVideo(service, accountId, 'one'), await storeVideo(service, accountId, 'two')];
  const path = await link([one.taskId]);
  assertRefused(await open(path.replace(one.taskId, two.taskId)), 403, 'link_invalid');
  assertRefused(await open(path.replace('.zip', `,${two.taskId}.zip`)), 403, 'link_invalid');
  assertRefused(await open(path.split('?')[0] ?? ''), 403, 'link_invalid');
  const both = await link([one.taskId, two.taskId]);
  await markMediaDeleted(service.database.db, one.taskId);
  for (const ended of [path, both]) assertRefused(await open(ended), 410, 'media_deleted');
});

test('an account downloads one archive at a time; the next one may begin when the client has left, and no file stays open', async () => {
  const { accountId, request, link } = await newClient();
  const other = await newClient();
  // More than the buffers of two sockets hold.
  const { taskId } = await storeVideo(service, accountId, 'long', { size: 64_000_000 });
  const foreign = await storeVideo(service, other.accountId, 'foreign');
  const path = await link([taskId]);
  const download = httpGet(service.url + path);
  const [response] = (await once(download, 'response')) as [NodeJS.ReadableStream & { destroy(): void }];
  assertRefused(await open(path), 409, 'archive_running');
  assertRefused(await request('archive', { taskIds: [taskId] }), 409, 'archive_running');
  assert.equal((await open(await other.link([foreign.taskId]))).status, 200, 'other accounts do not wait');
  const isOpen = () => openFiles(new RegExp(taskId)).length > 0;
  assert.ok(isOpen());
  response.destroy();
  await waitFor('the end of the first download', () => (isOpen() ? undefined : true));
  await waitFor('the next archive', async () =>
    (await request('archive', { taskIds: [taskId] })).status === 200 ? true : undefined,
  );
});

test('an archive breaks off when a file is missing, instead of ending as if it were whole', async () => {
  const { accountId, link } = await newClient();
  const { taskId } = await storeVideo(service, accountId, 'lost');
  const path = await link([taskId]);
  await service.deps.resultStore.delete(`results/${taskId}/video.mp4`);
  await assert.rejects(open(path));
});
