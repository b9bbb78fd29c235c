import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contentTypeOf,
  requireMediaFolder,
  requireMediaKey,
  requireMovesKeepEnding,
} from '../../../src/media/store/media-keys-and-content-types.ts';

test('the ending of a key is the type of its file', () => {
  const types = {
    mp4: 'video/mp4',
    mov: 'video/quicktime',
    webm: 'video/webm',
    mkv: 'video/x-matroska',
    avi: 'video/x-msvideo',
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    m4a: 'audio/mp4',
    aac: 'audio/aac',
    ogg: 'audio/ogg',
    mka: 'audio/x-matroska',
    flac: 'audio/flac',
    aiff: 'audio/aiff',
    jpg: 'image/jpeg',
  };
  for (const [ending, type] of Object.entries(types)) assert.equal(contentTypeOf(`results/1/file.${ending}`), type);
  for (const key of ['results/1/file', 'results/1/file.html', 'results/1/file.MP4', 'mp4'])
    assert.equal(contentTypeOf(key), undefined, key);
});

test('a key has at most eight parts of 128 characters, and 512 characters in all', () => {
  const part = (length: number) => `${'a'.repeat(length - 4)}.mp4`;
  const parts = (count: number, length: number) =>
    [...Array.from({ length: count - 1 }, () => 'a'), part(length)].join('/');
  const long = (last: number) => [...Array.from({ length: 3 }, () => 'a'.repeat(128)), part(last)].join('/');
  for (const [key, isKey] of [
    [part(128), true],
    [part(129), false],
    [parts(8, 5), true],
    [parts(9, 5), false],
    [long(125), true],
    [long(126), false],
  ] as const) {
    assert.equal(contentTypeOf(key) !== undefined, isKey, `${key.length} characters`);
    if (isKey) assert.equal(requireMediaKey(key), key);
    else
      assert.throws(() => requireMediaKey(key), {
        message: `not a key of the result store: "${key.slice(0, 512)}"`,
      });
  }
});

test('a folder is the beginning of keys, and a move keeps the ending of each', () => {
  assert.equal(requireMediaFolder('results/1'), 'results/1');
  for (const folder of ['', 'results/', '/results', '../x'])
    assert.throws(() => requireMediaFolder(folder), { message: `not a folder of the result store: "${folder}"` });
  const moves = [
    { from: 'a.mp4', to: 'b.mp4' },
    { from: 'a.jpg', to: 'b.jpg' },
  ];
  assert.deepEqual(requireMovesKeepEnding(moves), moves);
  assert.throws(() => requireMovesKeepEnding([...moves, { from: 'a.mp4', to: 'b.jpg' }]), {
    message: 'a.mp4 and b.jpg do not end alike',
  });
  assert.throws(() => requireMovesKeepEnding([{ from: 'a.html', to: 'b.html' }]), /not a key/);
});
