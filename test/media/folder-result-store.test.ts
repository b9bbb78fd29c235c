import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createFolderResultStore, type ResultStore } from '../../src/media/folder-result-store.ts';

const secret = 'a secret of the installation that nobody knows';
let scratch: string;
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'videogen-store-'));
});
after(() => rm(scratch, { recursive: true }));

let stores = 0;
function newStore(now?: () => number): { root: string; store: ResultStore } {
  stores += 1;
  const root = join(scratch, `store-${stores}`, 'results');
  return { root, store: createFolderResultStore({ resultStore: root, secret, publicUrl: 'http://x', now }) };
}

async function fileOf(text: string): Promise<string> {
  stores += 1;
  const path = join(scratch, `file-${stores}`);
  await writeFile(path, text);
  return path;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

const key = 'results/0193/video.mp4';

test('what is put can be fetched, and the source stays', async () => {
  const { root, store } = newStore();
  const source = await fileOf('a video');
  await store.put(key, source);
  const target = join(scratch, 'fetched');
  assert.equal(await store.fetchTo(key, target), true);
  assert.equal(await readFile(target, 'utf8'), 'a video');
  assert.equal(await readFile(source, 'utf8'), 'a video');
  assert.deepEqual(await filesIn(root), [join(root, key)]);
});

test('a repeated put of the same key is harmless; the last one counts', async () => {
  const { root, store } = newStore();
  await store.put(key, await fileOf('one'));
  await store.put(key, await fileOf('two'));
  assert.equal(await readFile(join(root, key), 'utf8'), 'two');
  assert.equal((await filesIn(root)).length, 1);
});

test('a reader never sees a part of a file, however often it is replaced', async () => {
  const { root, store } = newStore();
  const sources = await Promise.all(['a', 'b'].map((letter) => fileOf(letter.repeat(200_000))));
  await store.put(key, sources[0] ?? '');
  const writes = Array.from({ length: 30 }, (_, round) => store.put(key, sources[round % 2] ?? ''));
  const reads = Array.from({ length: 200 }, () => readFile(join(root, key), 'utf8'));
  for (const text of await Promise.all(reads)) assert.match(text, /^(a{200000}|b{200000})$/);
  await Promise.all(writes);
});

test('a put whose source is missing leaves the old file and no draft', async () => {
  const { root, store } = newStore();
  await store.put(key, await fileOf('old'));
  await assert.rejects(store.put(key, join(scratch, 'nowhere')), { code: 'ENOENT' });
  assert.equal(await readFile(join(root, key), 'utf8'), 'old');
  assert.deepEqual(await filesIn(root), [join(root, key)]);
});

test('fetching what is not there answers false and makes no file', async () => {
  const { store } = newStore();
  const target = join(scratch, 'absent');
  assert.equal(await store.fetchTo(key, target), false);
  await assert.rejects(stat(target), { code: 'ENOENT' });
});

test('a fetch into a folder that does not exist is an error, not a missing result', async () => {
  const { store } = newStore();
  await store.put(key, await fileOf('a video'));
  await assert.rejects(store.fetchTo(key, join(scratch, 'no', 'folder')), { code: 'ENOENT' });
});

test('delete takes the file and then its empty folder, and is harmless twice', async () => {
  const { root, store } = newStore();
  const poster = 'results/0193/poster.jpg';
  await store.put(key, await fileOf('v'));
  await store.put(poster, await fileOf('p'));
  await store.delete(key);
  assert.deepEqual(await filesIn(root), [join(root, poster)]);
  await store.delete(poster);
  await store.delete(poster);
  assert.deepEqual(await readdir(join(root, 'results')), []);
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

const staged = 'staging/0193/video.mp4';

test('a move takes the file from its old key to the new one, over what lay there, with its empty folder', async () => {
  const { root, store } = newStore();
  await store.put(key, await fileOf('old'));
  await store.put(staged, await fileOf('new'));
  await store.put('staging/0193/poster.jpg', await fileOf('poster'));
  const poster = { from: 'staging/0193/poster.jpg', to: 'results/0193/poster.jpg' };
  await store.move([{ from: staged, to: key }, poster]);
  assert.equal(await readFile(join(root, key), 'utf8'), 'new');
  assert.equal(await readFile(join(root, poster.to), 'utf8'), 'poster');
  assert.deepEqual(await filesIn(root), [join(root, poster.to), join(root, key)]);
  assert.deepEqual(await readdir(join(root, 'staging')), []);
});

test('a move that was made is harmless to repeat: what it moved stays', async () => {
  const { root, store } = newStore();
  await store.put(staged, await fileOf('a video'));
  await store.move([{ from: staged, to: key }]);
  await store.move([{ from: staged, to: key }]);
  assert.equal(await readFile(join(root, key), 'utf8'), 'a video');
});

test('what was fetched stays readable whatever becomes of the key, and no fetch writes over a file', async () => {
  const { root, store } = newStore();
  await store.put(staged, await fileOf('first'));
  const target = join(scratch, 'kept');
  assert.equal(await store.fetchTo(staged, target), true);
  await store.move([{ from: staged, to: key }]);
  await store.put(key, await fileOf('second'));
  await assert.rejects(store.fetchTo(key, target), { code: 'EEXIST' });
  await store.delete(key);
  assert.equal(await readFile(target, 'utf8'), 'first');
  await rm(target);
  assert.deepEqual(await filesIn(root), []);
});

test('a move to another ending is refused, and nothing is moved: a file is served by its ending', async () => {
  const { store } = newStore();
  await store.put(staged, await fileOf('x'));
  await assert.rejects(store.move([{ from: staged, to: 'results/0193/poster.jpg' }]), /do not end alike/);
  assert.equal(await store.fetchTo(staged, join(scratch, 'not-moved')), true);
});

test('drafts that killed writers left are swept, fresh ones are not', async () => {
  const { root, store } = newStore();
  const drafts = join(root, '.drafts');
  await mkdir(drafts, { recursive: true });
  for (const name of ['stale', 'fresh']) await writeFile(join(drafts, name), 'half a video');
  const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60;
  await utimes(join(drafts, 'stale'), twoDaysAgo, twoDaysAgo);
  await store.put(key, await fileOf('x'));
  assert.deepEqual(await readdir(drafts), ['fresh']);
});

const notKeys = [
  '',
  '.',
  '..',
  '/',
  '/etc/passwd.mp4',
  '../outside.mp4',
  'results/../../outside.mp4',
  'results/..',
  'results/./video.mp4',
  'results//video.mp4',
  'results/video.mp4/',
  'results\\..\\video.mp4',
  '.drafts/video.mp4',
  'results/.hidden.mp4',
  'results/video.mp4\0.jpg',
  'results/video.mp4\n',
  'results/%2e%2e/video.mp4',
  'results/vidéo.mp4',
  'results/a b.mp4',
  'results/video',
  'results/video.exe',
  'results/video.html',
  'results/video.constructor',
  'a/b/c/d/e/f/g/h/i.mp4',
  `${'a'.repeat(129)}.mp4`,
  `${`${'a'.repeat(100)}/`.repeat(6)}video.mp4`,
];

for (const bad of notKeys) {
  test(`${JSON.stringify(bad.slice(0, 40))} is no key: nothing is written, read, deleted or signed`, async () => {
    const { store } = newStore();
    const source = await fileOf('x');
    await assert.rejects(store.put(bad, source), /not a key/);
    await assert.rejects(async () => store.fetchTo(bad, join(scratch, 'y')), /not a key/);
    await assert.rejects(store.delete(bad), /not a key/);
    await assert.rejects(store.move([{ from: bad, to: key }]), /not a key/);
    await assert.rejects(store.move([{ from: key, to: bad }]), /not a key/);
    assert.throws(() => store.link(bad), /not a key/);
    assert.equal(store.open({ key: bad, expires: '9999999999', signature: 'x' }), undefined);
  });
}

test('a link opens the very file, by its type and with a name to save it under', async () => {
  const now = 1_800_000_000_000;
  const { root, store } = newStore(() => now);
  const { searchParams } = new URL(store.link(key));
  const link = { key, expires: searchParams.get('expires') ?? '', signature: searchParams.get('signature') ?? '' };
  assert.deepEqual(store.open(link), {
    root,
    path: `/${key}`,
    contentType: 'video/mp4',
    downloadName: '0193-video.mp4',
    linkExpiresAt: now + 24 * 60 * 60_000,
  });
  assert.equal(store.open({ ...link, key: 'results/0194/video.mp4' }), undefined);
});

test('a folder is deleted with all that is in it, and no other', async () => {
  const { root, store } = newStore();
  for (const name of ['images/0193/1.jpg', 'images/0193/2.jpg', 'images/01934/1.jpg'])
    await store.put(name, await fileOf('a'));
  await store.deleteFolder('images/0193');
  assert.deepEqual(await filesIn(root), [join(root, 'images/01934/1.jpg')]);
  await store.deleteFolder('images/0193');
  for (const name of ['', '.', '..', '/', 'images/..', 'images/../results', '/images', 'images/', '.drafts'])
    await assert.rejects(store.deleteFolder(name), /not a folder/, name);
});

test('a link lives for as long as its maker says', () => {
  let now = 1_800_000_000_000;
  const { store } = newStore(() => now);
  const { searchParams } = new URL(store.link('images/0193/1.jpg', 5_000));
  const [expires, signature] = [searchParams.get('expires') ?? '', searchParams.get('signature') ?? ''];
  const isOpen = () => store.open({ key: 'images/0193/1.jpg', expires, signature }) !== undefined;
  assert.equal(isOpen(), true);
  now += 5_000;
  assert.equal(isOpen(), false);
});
