import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { createFolderFiles } from '../../../src/media/store/folder-files.ts';
import type { MediaFiles } from '../../../src/media/store/result-store.ts';
import { createTwoStores } from '../../../src/media/store/two-stores.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const keyOf = (name: 'both' | 'first' | 'also' | 'none') => `results/${name}/video.mp4`;
const keys = [keyOf('both'), keyOf('first'), keyOf('also'), keyOf('none')];

/** One file in both stores, and one in each of them; the contents name the store. */
async function stage(t: TestContext) {
  const folder = await temporaryFolder(t);
  const put = async (store: MediaFiles, key: string, content: string) => {
    await writeFile(join(folder, 'content'), content);
    await store.put(key, join(folder, 'content'));
  };
  const [first, also] = ['first', 'also'].map((name) => createFolderFiles(join(folder, name)));
  assert.ok(first && also);
  await put(first, keyOf('both'), 'first');
  await put(first, keyOf('first'), 'first');
  await put(also, keyOf('both'), 'the same');
  await put(also, keyOf('also'), 'the other');
  const held = async (store: MediaFiles) => {
    const listed: string[] = [];
    for await (const { key } of store.list('results')) listed.push(key);
    return listed;
  };
  return { folder, put, first, also, stores: createTwoStores(first, also), held };
}

test('a file is read from where it is, from the new store if it is in both', async (t) => {
  const { folder, stores } = await stage(t);
  const seen = await Promise.all(
    keys.map(async (key, index) => {
      const path = join(folder, `fetched-${index}`);
      const stream = await stores.read(key);
      const fetched = (await stores.fetchTo(key, path)) ? await readFile(path, 'utf8') : undefined;
      const served = {
        key,
        contentType: 'video/mp4',
        downloadName: 'x',
        disposition: 'inline',
        linkExpiresAt: 0,
      } as const;
      const source = await stores.sourceOf(served, 'GET');
      const root = source?.kind === 'file' ? source.root.split('/').at(-1) : undefined;
      return [stream && (await text(stream)), fetched, await stores.sizeOf(key), root];
    }),
  );
  assert.deepEqual(seen, [
    ['first', 'first', 5, 'first'],
    ['first', 'first', 5, 'first'],
    ['the other', 'the other', 9, 'also'],
    [undefined, undefined, undefined, undefined],
  ]);
});

test('a list has each file once, and a new file goes to the new store alone', async (t) => {
  const { put, also, first, stores, held } = await stage(t);
  assert.deepEqual((await held(stores)).toSorted(), keys.slice(0, 3).toSorted());
  await put(stores, 'results/new/video.mp4', 'new');
  assert.equal(await first.sizeOf('results/new/video.mp4'), 3);
  assert.equal(await also.sizeOf('results/new/video.mp4'), undefined);
  const [byLink, byOtherLink] = ['first', 'also'].map((name) => ({ uploadLink: () => Promise.resolve(name) }));
  const linked = createTwoStores({ ...first, ...byLink }, { ...also, ...byOtherLink });
  assert.equal(await linked.uploadLink('results/new/video.mp4', 1_000), 'first');
});

test('a delete leaves the file in neither store, and touches no other', async (t) => {
  const { also, first, stores, held } = await stage(t);
  await stores.delete(keyOf('both'));
  assert.deepEqual([await held(first), await held(also)], [[keyOf('first')], [keyOf('also')]]);
  for (const folder of ['results/first', 'results/also']) await stores.deleteFolder(folder);
  assert.deepEqual([await held(first), await held(also)], [[], []]);
});

test('a move ends in the new store with the content that was read, and leaves nothing behind', async (t) => {
  const { also, first, stores, held } = await stage(t);
  const moves = keys.slice(0, 3).map((from, index) => ({ from, to: `results/moved-${index}/video.mp4` }));
  for (let times = 0; times < 2; times += 1) await stores.move(moves);
  assert.deepEqual(await held(also), []);
  assert.deepEqual((await held(first)).toSorted(), moves.map(({ to }) => to).toSorted());
  assert.deepEqual(await Promise.all(moves.map(({ to }) => first.sizeOf(to))), [5, 5, 9]);
});
