import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { clipContainerOf, ClipRefusal } from '../../../src/media/video/clip-container.ts';
import { maxIndexBytes } from '../../../src/media/video/mp4-boxes.ts';
import { VideoFileError } from '../../../src/media/video/video-file-error.ts';
import { videoLayoutOf } from '../../../src/media/video/video-layout.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { box } from '../boxes.ts';

const start = box('ftyp', Buffer.from('isom\0\0\x02\0isommp42'));

test('the boxes of all levels of a file count together', async (t) => {
  const path = join(await temporaryFolder(t), 'nested.mp4');
  const nested = (tracks: number) => {
    const track = box('trak', ...Array.from({ length: 100 }, () => box('mdia')));
    return Buffer.concat([start, box('moov', ...Array.from({ length: tracks }, () => track))]);
  };
  await writeFile(path, nested(90));
  assert.equal(await clipContainerOf(path), undefined, 'it has neither picture nor sound');
  await writeFile(path, nested(110));
  await assert.rejects(clipContainerOf(path), ClipRefusal);
});

test('a video with an index of more than 64 MiB is refused', async (t) => {
  const path = join(await temporaryFolder(t), 'large.mp4');
  for (const bytes of [maxIndexBytes, maxIndexBytes + 1]) {
    const index = box('moov');
    index.writeUInt32BE(bytes);
    await writeFile(path, Buffer.concat([start, index]));
    await truncate(path, start.length + bytes);
    if (bytes > maxIndexBytes) await assert.rejects(videoLayoutOf(path), VideoFileError);
    else assert.equal((await videoLayoutOf(path)).isWhole, true);
  }
});
