import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { createFolderFiles } from '../../../src/media/store/folder-files.ts';
import { createTwoStores } from '../../../src/media/store/two-stores.ts';
import { describeStore, key, type StoreUnderTest } from './store-contract.ts';

let scratch: string;
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'videogen-store-'));
});
after(() => rm(scratch, { recursive: true }));

let stores = 0;
function newStore() {
  stores += 1;
  const root = join(scratch, `store-${stores}`, 'results');
  return { root, store: createFolderFiles(root) };
}

async function fileOf(text: string): Promise<string> {
  stores += 1;
  const path = join(scratch, `file-${stores}`);
  await writeFile(path, text);
  return path;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

describeStore('a folder', async (): Promise<StoreUnderTest> => {
  const { root, store } = newStore();
  return { files: store, names: () => filesIn(root) };
});

describeStore('two folders, to move from one to the other', async (): Promise<StoreUnderTest> => {
  const [first, also] = [newStore(), newStore()];
  const names = async () => [...(await filesIn(first.root)), ...(await filesIn(also.root))];
  return { files: createTwoStores(first.store, also.store), names };
});

test('a file is read from the other store until it lies in the first, and nothing is written to the other', async () => {
  const [first, also] = [newStore(), newStore()];
  const both = createTwoStores(first.store, also.store);
  await also.store.put(key, await fileOf('old'));
  await also.store.put('staging/0194/video.mp4', await fileOf('staged'));
  assert.equal(await both.sizeOf(key), 3);
  await both.put(key, await fileOf('newer'));
  assert.equal(await both.sizeOf(key), 5);
  await both.move([{ from: 'staging/0194/video.mp4', to: 'results/0194/video.mp4' }]);
  assert.deepEqual(await filesIn(first.root), [key, 'results/0194/video.mp4']);
  assert.deepEqual(await filesIn(also.root), [key]);
  await both.delete(key);
  assert.deepEqual([await filesIn(first.root), await filesIn(also.root)], [['results/0194/video.mp4'], []]);
});

test('delete takes the empty folder of a task too', async () => {
  const { root, store } = newStore();
  await store.put(key, await fileOf('v'));
  await store.delete(key);
  assert.deepEqual(await readdir(join(root, 'results')), []);
});

test('the folder of the store itself stays, also when its only file is deleted', async () => {
  const { root, store } = newStore();
  await store.put('probe.jpg', await fileOf('x'));
  await rm(join(root, '.drafts'), { recursive: true });
  await store.delete('probe.jpg');
  assert.deepEqual(await readdir(root), []);
});

test('what cannot be put or moved is an error, and leaves the file where it was and no draft', async () => {
  const { root, store } = newStore();
  const staged = 'staging/0193/video.mp4';
  await store.put(staged, await fileOf('new'));
  // A folder stands where the file would go.
  await mkdir(join(root, key, 'other'), { recursive: true });
  await assert.rejects(store.put(key, await fileOf('x')), { code: 'EISDIR' });
  await assert.rejects(store.move([{ from: staged, to: key }]), { code: 'EISDIR' });
  assert.deepEqual(await filesIn(root), [staged]);
});

test('a move takes the empty folder that it leaves', async () => {
  const { root, store } = newStore();
  await store.put('staging/0193/video.mp4', await fileOf('new'));
  await store.move([{ from: 'staging/0193/video.mp4', to: key }]);
  assert.deepEqual(await readdir(join(root, 'staging')), []);
});

test('a put finds its folder even when the delete of a neighbour takes it away at that moment', async () => {
  const { root, store } = newStore();
  const source = await fileOf('x');
  const neighbours = ['a', 'b', 'c', 'd'].map((name) => `results/0193/${name}.mp4`);
  await Promise.all(
    neighbours.map(async (neighbour) => {
      for (let round = 0; round < 50; round += 1) {
        await store.put(neighbour, source);
        assert.equal(await readFile(join(root, neighbour), 'utf8'), 'x');
        await store.delete(neighbour);
      }
    }),
  );
  assert.deepEqual(await filesIn(root), []);
});

test('drafts that killed writers left are swept, fresh ones are not', async () => {
  const { root, store } = newStore();
  const drafts = join(root, '.drafts');
  await mkdir(drafts, { recursive: true });
  for (const name of ['stale', 'recent', 'fresh']) await writeFile(join(drafts, name), 'half a video');
  const dayAgo = Date.now() / 1000 - 24 * 60 * 60;
  await utimes(join(drafts, 'stale'), dayAgo - 600, dayAgo - 600);
  await utimes(join(drafts, 'recent'), dayAgo + 600, dayAgo + 600);
  await store.put(key, await fileOf('x'));
  assert.deepEqual((await readdir(drafts)).toSorted(), ['fresh', 'recent']);
});

test('a stored file can be read by this service alone, which sends it itself, and no link writes it', async () => {
  const { root, store } = newStore();
  const source = await fileOf('x');
  await chmod(source, 0o644);
  await store.put(key, source);
  assert.equal((await stat(join(root, key))).mode & 0o777, 0o600);
  const link = { key, contentType: 'video/mp4', downloadName: 'x', disposition: 'inline', linkExpiresAt: 0 } as const;
  assert.deepEqual(await store.sourceOf(link, 'GET'), { kind: 'file', root, path: `/${key}` });
  assert.equal(await store.uploadLink(key, 60_000), undefined);
});
