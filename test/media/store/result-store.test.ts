import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolderStore } from '../../support/folder-store.ts';
import { notKeys } from './not-keys.ts';
import { key } from './store-contract.ts';

const startMs = 1_800_000_000_000;

function partsOf(link: string) {
  const { searchParams } = new URL(link);
  return { expires: searchParams.get('expires') ?? '', signature: searchParams.get('signature') ?? '' };
}

test('a link opens the very file, by its type and with a name to save it under', () => {
  const store = createFolderStore('.', { now: () => startMs });
  const link = { key, ...partsOf(store.link(key)) };
  assert.deepEqual(store.open(link), {
    key,
    contentType: 'video/mp4',
    downloadName: '0193-video.mp4',
    disposition: 'inline',
    linkExpiresAt: startMs + 24 * 60 * 60_000,
  });
  assert.equal(store.open({ ...link, key: 'results/0194/video.mp4' }), undefined);
});

test('a link lives for as long as its maker says', () => {
  let now = startMs;
  const store = createFolderStore('.', { now: () => now });
  const link = { key: 'references/0193/1.jpg', ...partsOf(store.link('references/0193/1.jpg', 5_000)) };
  assert.notEqual(store.open(link), undefined);
  now += 5_000;
  assert.equal(store.open(link), undefined);
});

for (const bad of notKeys) {
  test(`${JSON.stringify(bad.slice(0, 40))} is no key: no link is signed or opened`, () => {
    const store = createFolderStore('.');
    assert.throws(() => store.link(bad), /not a key/);
    assert.equal(store.open({ key: bad, expires: '9999999999', signature: 'x' }), undefined);
  });
}

test('the owner of a file gets it as an attachment, without a link', () => {
  const store = createFolderStore('.');
  const attachment = { disposition: 'attachment', linkExpiresAt: 0 };
  assert.deepEqual(store.attachment('uploads/0193/audio.mp3'), {
    key: 'uploads/0193/audio.mp3',
    contentType: 'audio/mpeg',
    downloadName: '0193-audio.mp3',
    ...attachment,
  });
  assert.deepEqual(store.attachment('a/b/c.jpg')?.downloadName, 'b-c.jpg');
  for (const bad of notKeys) assert.equal(store.attachment(bad), undefined, bad);
  const link = { key, ...partsOf(store.link(key)) };
  assert.equal(store.open(link, 'attachment')?.disposition, 'attachment');
});

test('a link to an archive is for that archive alone, until it expires, and opens no file', () => {
  let now = startMs;
  const store = createFolderStore('.', { now: () => now });
  const link = store.archiveLink('films', 5_000);
  assert.match(link, /^http:\/\/media\.test\/media\/archives\/films\.zip\?/);
  const parts = partsOf(link);
  assert.equal(store.isArchiveSigned('films', parts), true);
  assert.equal(store.isArchiveSigned('other', parts), false);
  assert.equal(store.isArchiveSigned('films', { ...parts, expires: String(Number(parts.expires) + 1) }), false);
  assert.equal(store.open({ key: 'archives/films.zip', ...parts }), undefined);
  now += 5_000;
  assert.equal(store.isArchiveSigned('films', parts), false);
});
