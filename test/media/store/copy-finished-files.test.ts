import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { copyFinishedFiles } from '../../../src/media/store/copy-finished-files.ts';
import { createFolderFiles } from '../../../src/media/store/folder-files.ts';
import type { MediaFiles } from '../../../src/media/store/result-store.ts';
import { createTwoStores } from '../../../src/media/store/two-stores.ts';
import { createS3Files } from '../../../src/media/store/s3/s3-files.ts';
import { videogen } from '../../support/processes/run-videogen.ts';
import { skipsWithoutS3, startS3Server } from '../../support/servers/s3-server.ts';

let scratch: string;
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'videogen-copy-'));
});
after(() => rm(scratch, { recursive: true }));

let stores = 0;
const newFolder = () => join(scratch, `store-${(stores += 1)}`);
const never = new AbortController().signal;
const copy = (from: MediaFiles, to: MediaFiles, signal = never) =>
  copyFinishedFiles({ from, to, signal, onProgress: () => undefined });

async function putText(store: MediaFiles, key: string, text: string): Promise<void> {
  const path = join(scratch, 'text');
  await writeFile(path, text);
  await store.put(key, path);
}

async function textOf(store: MediaFiles, key: string): Promise<string | undefined> {
  const path = join(scratch, 'fetched');
  await rm(path, { force: true });
  return (await store.fetchTo(key, path)) ? readFile(path, 'utf8') : undefined;
}

async function filled(tasks: number): Promise<MediaFiles> {
  const store = createFolderFiles(newFolder());
  for (let task = 0; task < tasks; task += 1) await putText(store, `results/${task}/video.mp4`, `video ${task}`);
  return store;
}

const countsOf = ({ files, copied, present, deleted, unfinished, failed }: Awaited<ReturnType<typeof copy>>) => ({
  files,
  copied,
  present,
  deleted,
  unfinished,
  failed: failed.length,
});

test('finished files are copied and those of unfinished tasks are counted; a repeat copies nothing', async () => {
  const [from, to] = [await filled(30), createFolderFiles(newFolder())];
  await putText(from, 'staging/7/video.mp4', 'x');
  await putText(from, 'incoming/7/job.mp4', 'x');
  await putText(from, 'references/7/1.jpg', 'x');
  await putText(from, 'uploads/7/image.jpg', 'an upload');
  const none = { deleted: 0, failed: 0, unfinished: 3 };
  assert.deepEqual(countsOf(await copy(from, to)), { files: 31, copied: 31, present: 0, ...none });
  assert.equal(await textOf(to, 'uploads/7/image.jpg'), 'an upload');
  assert.equal(await textOf(to, 'results/17/video.mp4'), 'video 17');
  assert.equal(await to.sizeOf('staging/7/video.mp4'), undefined);
  assert.deepEqual(countsOf(await copy(from, to)), { files: 31, copied: 0, present: 31, ...none });
});

test('progress counts files and bytes, up to all of them', async () => {
  const [from, to] = [await filled(12), createFolderFiles(newFolder())];
  await putText(from, 'staging/7/video.mp4', 'x');
  const seen: number[] = [];
  const onProgress = ({ doneFiles }: { readonly doneFiles: number }) => seen.push(doneFiles);
  const end = await copyFinishedFiles({ from, to, signal: never, onProgress });
  assert.deepEqual(
    seen,
    Array.from({ length: 12 }, (_, index) => index + 1),
  );
  // "video 0" to "video 9" and two with a digit more.
  const total = { files: 12, bytes: 86, doneFiles: 12, doneBytes: 86, copied: 12, present: 0, deleted: 0 };
  assert.deepEqual(end, { ...total, failed: [], unfinished: 1 });
});

test('a store that takes no file ends the copy after twenty failures and those in progress', async () => {
  const [from, to] = [await filled(40), createFolderFiles(newFolder())];
  const full: MediaFiles = { ...to, put: () => Promise.reject(new Error('no space')) };
  const { failed, doneFiles, copied } = await copy(from, full);
  assert.ok(failed.length >= 20 && failed.length < 24, String(failed.length));
  assert.deepEqual([doneFiles, copied], [failed.length, 0]);
  assert.deepEqual(new Set(failed.map(({ error }) => String(error))), new Set(['Error: no space']));
});

test('what a worker has written to the target is newer and stays', async () => {
  const [from, to] = [await filled(1), createFolderFiles(newFolder())];
  await putText(to, 'results/0/video.mp4', 'newer');
  await copy(from, to);
  assert.equal(await textOf(to, 'results/0/video.mp4'), 'newer');
});

test('a copy that was broken off is finished by the next one', async () => {
  const [from, to] = [await filled(40), createFolderFiles(newFolder())];
  const stop = new AbortController();
  const onProgress = ({ copied }: { copied: number }) => {
    if (copied === 5) stop.abort();
  };
  const { copied } = await copyFinishedFiles({ from, to, signal: stop.signal, onProgress });
  assert.ok(copied >= 5 && copied < 40, String(copied));
  assert.deepEqual(countsOf(await copy(from, to)), {
    files: 40,
    copied: 40 - copied,
    present: copied,
    deleted: 0,
    unfinished: 0,
    failed: 0,
  });
});

test('a copy whose bytes differ is deleted and reported, and the others are copied', async () => {
  const [from, to] = [await filled(3), createFolderFiles(newFolder())];
  const damaging: MediaFiles = {
    ...to,
    put: (key, path) => (key === 'results/1/video.mp4' ? putText(to, key, 'video X') : to.put(key, path)),
  };
  const { copied, failed } = await copy(from, damaging);
  assert.deepEqual([copied, failed.map(({ key }) => key)], [2, ['results/1/video.mp4']]);
  assert.equal(await to.sizeOf('results/1/video.mp4'), undefined);
});

test('a file whose retention ends at any step of its copy is in neither store afterwards', async () => {
  const key = 'results/0/video.mp4';
  for (const step of ['sizeOf', 'fetchTo', 'put'] as const) {
    const [from, to] = [await filled(1), createFolderFiles(newFolder())];
    const both = createTwoStores(to, from);
    let deleted = false;
    const retained = async () => {
      if (!deleted) await both.delete(key);
      deleted = true;
    };
    const target: MediaFiles = {
      ...to,
      sizeOf: async (...args) => {
        if (step === 'sizeOf') await retained();
        return to.sizeOf(...args);
      },
      put: async (...args) => {
        if (step === 'fetchTo') await retained();
        await to.put(...args);
        if (step === 'put') await retained();
      },
    };
    await copy(from, target);
    assert.deepEqual([await from.sizeOf(key), await to.sizeOf(key)], [undefined, undefined], step);
  }
});

test('the command moves a folder to a bucket and says what is left to do', { skip: skipsWithoutS3 }, async () => {
  const server = await startS3Server();
  try {
    const [folder, data] = [newFolder(), newFolder()];
    const from = createFolderFiles(folder);
    for (const task of ['a', 'b']) await putText(from, `results/${task}/video.mp4`, `video ${task}`);
    await putText(from, 'staging/c/video.mp4', 'x');
    const env = {
      ...process.env,
      ...server.environment,
      VIDEOGEN_DATA: data,
      RESULT_STORE: `s3://${server.bucket}/videos`,
      RESULT_STORE_ALSO: folder,
    };
    const { code, stdout, stderr } = await videogen(env, 'media', 'copy');
    assert.equal(code, 0, stderr);
    assert.equal(
      stdout,
      `From ${folder} to s3://results/videos: 2 copied, 0 already there, 0 deleted meanwhile, 0 failed.\n` +
        `1 files of unfinished tasks are still in ${folder}: repeat the command later, until there are none.\n`,
    );
    const location = { kind: 'bucket', bucket: server.bucket, prefix: 'videos/' } as const;
    assert.equal(await textOf(createS3Files({ location, s3: server.s3 }), 'results/b/video.mp4'), 'video b');
    await from.delete('staging/c/video.mp4');
    const again = await videogen(env, '--json', 'media', 'copy');
    const counts = { files: 2, copied: 0, present: 2, deleted: 0, unfinished: 0 };
    assert.deepEqual(JSON.parse(again.stdout), { from: folder, to: 's3://results/videos', ...counts });
    await server.kill();
    const failed = await videogen(env, 'media', 'copy');
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /results\/a\/video\.mp4: head failed in the result store s3:\/\/results\/videos/);
  } finally {
    await server.close();
  }
});
