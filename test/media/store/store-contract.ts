import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { MediaFiles } from '../../../src/media/store/result-store.ts';
import { notKeys } from './not-keys.ts';

export type StoreUnderTest = {
  readonly files: MediaFiles;
  /** Whatever lies in it, sorted; drafts and other keys' parts included. */
  readonly names: () => Promise<readonly string[]>;
};

export const key = 'results/0193/video.mp4';
const poster = 'results/0193/poster.jpg';
const staged = 'staging/0193/video.mp4';

/** What every store of results does, whatever it is made of. `open` answers an empty one at each call. */
export function describeStore(name: string, open: () => Promise<StoreUnderTest>, skip: string | false = false): void {
  describe(name, { skip }, () => {
    let scratch: string;
    let files = 0;
    before(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'videogen-store-'));
    });
    after(() => rm(scratch, { recursive: true }));

    const newPath = () => join(scratch, `file-${(files += 1)}`);
    const fileOf = async (text: string) => {
      const path = newPath();
      await writeFile(path, text);
      return path;
    };
    const textOf = async (store: MediaFiles, wanted: string) => {
      const path = newPath();
      return (await store.fetchTo(wanted, path)) ? readFile(path, 'utf8') : undefined;
    };

    test('what is put can be fetched, and the source stays', async () => {
      const { files: store, names } = await open();
      const source = await fileOf('a video');
      await store.put(key, source);
      assert.equal(await textOf(store, key), 'a video');
      assert.equal(await readFile(source, 'utf8'), 'a video');
      assert.deepEqual(await names(), [key]);
    });

    test('a stored file can be read as a stream, and a missing one is undefined', async () => {
      const { files: store } = await open();
      await store.put(key, await fileOf('a video'));
      const stream = await store.read(key);
      assert.ok(stream !== undefined);
      assert.equal(await textOfStream(stream), 'a video');
      assert.equal(await store.read(poster), undefined);
    });

    test('a repeated put of the same key is harmless; the last one counts', async () => {
      const { files: store, names } = await open();
      await store.put(key, await fileOf('one'));
      await store.put(key, await fileOf('two'));
      assert.equal(await textOf(store, key), 'two');
      assert.equal((await names()).length, 1);
    });

    test('a reader never sees a part of a file, however often it is replaced', async () => {
      const { files: store } = await open();
      const sources = await Promise.all(['a', 'b'].map((letter) => fileOf(letter.repeat(200_000))));
      await store.put(key, sources[0] ?? '');
      const writes = Array.from({ length: 30 }, (_, round) => store.put(key, sources[round % 2] ?? ''));
      const reads = Array.from({ length: 60 }, () => textOf(store, key));
      for (const text of await Promise.all(reads)) assert.match(text ?? '', /^(a{200000}|b{200000})$/);
      await Promise.all(writes);
    });

    test('a put whose source is missing leaves the old file and no draft', async () => {
      const { files: store, names } = await open();
      await store.put(key, await fileOf('old'));
      await assert.rejects(store.put(key, join(scratch, 'nowhere')), { code: 'ENOENT' });
      assert.equal(await textOf(store, key), 'old');
      assert.deepEqual(await names(), [key]);
    });

    test('fetching what is not there answers false and makes no file', async () => {
      const { files: store } = await open();
      const target = newPath();
      assert.equal(await store.fetchTo(key, target), false);
      await assert.rejects(stat(target), { code: 'ENOENT' });
    });

    test('a fetch into a folder that does not exist is an error, not a missing result', async () => {
      const { files: store } = await open();
      await store.put(key, await fileOf('a video'));
      await assert.rejects(store.fetchTo(key, join(scratch, 'no', 'folder')), { code: 'ENOENT' });
    });

    test('delete takes the file, and is harmless twice', async () => {
      const { files: store, names } = await open();
      await store.put(key, await fileOf('v'));
      await store.put(poster, await fileOf('p'));
      await store.delete(key);
      assert.deepEqual(await names(), [poster]);
      await store.delete(poster);
      await store.delete(poster);
      assert.deepEqual(await names(), []);
    });

    test('a move takes the file from its old key to the new one, over what lay there', async () => {
      const { files: store, names } = await open();
      await store.put(key, await fileOf('old'));
      await store.put(staged, await fileOf('new'));
      await store.put('staging/0193/poster.jpg', await fileOf('poster'));
      await store.move([
        { from: staged, to: key },
        { from: 'staging/0193/poster.jpg', to: poster },
      ]);
      assert.equal(await textOf(store, key), 'new');
      assert.equal(await textOf(store, poster), 'poster');
      assert.deepEqual(await names(), [poster, key]);
    });

    test('a move that was made is harmless to repeat: what it moved stays', async () => {
      const { files: store } = await open();
      await store.put(staged, await fileOf('a video'));
      await store.move([{ from: staged, to: key }]);
      await store.move([{ from: staged, to: key }]);
      assert.equal(await textOf(store, key), 'a video');
    });

    test('a move to another ending is refused, and nothing is moved: a file is served by its ending', async () => {
      const { files: store } = await open();
      await store.put(staged, await fileOf('x'));
      await assert.rejects(store.move([{ from: staged, to: poster }]), /do not end alike/);
      assert.equal(await textOf(store, staged), 'x');
    });

    test('what was fetched stays readable whatever becomes of the key, and no fetch writes over a file', async () => {
      const { files: store, names } = await open();
      await store.put(staged, await fileOf('first'));
      const target = newPath();
      assert.equal(await store.fetchTo(staged, target), true);
      await store.move([{ from: staged, to: key }]);
      await store.put(key, await fileOf('second'));
      await assert.rejects(store.fetchTo(key, target), { code: 'EEXIST' });
      await store.delete(key);
      assert.equal(await readFile(target, 'utf8'), 'first');
      assert.deepEqual(await names(), []);
    });

    test('a folder is deleted with all that is in it, and no other', async () => {
      const { files: store, names } = await open();
      for (const image of ['images/0193/1.jpg', 'images/0193/2.jpg', 'images/01934/1.jpg'])
        await store.put(image, await fileOf('a'));
      await store.deleteFolder('images/0193');
      assert.deepEqual(await names(), ['images/01934/1.jpg']);
      await store.deleteFolder('images/0193');
      for (const bad of ['', '.', '..', '/', 'images/..', 'images/../results', '/images', 'images/', '.drafts'])
        await assert.rejects(store.deleteFolder(bad), /not a folder/, bad);
    });

    test('files are listed with their sizes, those of one folder alone', async () => {
      const { files: store } = await open();
      await store.put(key, await fileOf('12345'));
      await store.put(poster, await fileOf('1'));
      await store.put(staged, await fileOf('1'));
      const listed = await allOf(store.list('results'));
      assert.deepEqual(
        listed.toSorted((a, b) => a.sizeBytes - b.sizeBytes),
        [
          { key: poster, sizeBytes: 1 },
          { key, sizeBytes: 5 },
        ],
      );
      assert.deepEqual(await allOf(store.list('images')), []);
      assert.deepEqual([await store.sizeOf(key), await store.sizeOf('results/0194/video.mp4')], [5, undefined]);
    });

    test('what is behind a link is found, and what is not there is not', async () => {
      const { files: store } = await open();
      await store.put(key, await fileOf('a video'));
      const link = {
        key,
        contentType: 'video/mp4',
        downloadName: 'v.mp4',
        disposition: 'inline',
        linkExpiresAt: Date.now() + 60_000,
      } as const;
      for (const method of ['GET', 'HEAD'] as const) {
        assert.notEqual(await store.sourceOf(link, method), undefined);
        assert.equal(await store.sourceOf({ ...link, key: 'results/0194/video.mp4' }, method), undefined);
      }
    });

    test('no other text than a key writes, reads, moves or deletes anything', async () => {
      const { files: store } = await open();
      const source = await fileOf('x');
      for (const bad of notKeys) {
        await assert.rejects(store.put(bad, source), /not a key/, bad);
        await assert.rejects(store.fetchTo(bad, join(scratch, 'y')), /not a key/, bad);
        await assert.rejects(async () => store.delete(bad), /not a key/, bad);
        await assert.rejects(async () => store.sizeOf(bad), /not a key/, bad);
        await assert.rejects(store.move([{ from: bad, to: key }]), /not a key/, bad);
        await assert.rejects(store.move([{ from: key, to: bad }]), /not a key/, bad);
      }
    });
  });
}

async function allOf<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
