import assert from 'node:assert/strict';
import { open as openFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { clipContainerOf, ClipRefusedError } from '../../../src/media/video/clip-container.ts';
import { BoxError, boxesIn, boxesInMemory, maxIndexBytes, toBoxFile } from '../../../src/media/video/mp4-boxes.ts';
import { VideoFileError } from '../../../src/media/video/video-file-error.ts';
import { videoLayoutOf } from '../../../src/media/video/mp4-top-level-boxes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { box, manifestBox, xmpBox } from '../boxes.ts';

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
  await assert.rejects(clipContainerOf(path), ClipRefusedError);
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

test('of several manifests, and of several packets of XMP, the first one counts', async (t) => {
  const path = join(await temporaryFolder(t), 'several.mp4');
  const [manifests, packets] = [['one', 'two'].map(manifestBox), ['one', 'two'].map(xmpBox)];
  await writeFile(path, Buffer.concat([start, ...manifests, ...packets]));
  const { manifest, xmp, last } = await videoLayoutOf(path);
  const packetsAt = start.length + Buffer.concat(manifests).length;
  const lastAt = packetsAt + Buffer.concat(packets.slice(1)).length;
  assert.deepEqual([manifest?.at, xmp?.at, last?.at], [start.length, packetsAt, lastAt]);
});

test('a box has a size of 32 or of 64 bits, or reaches to the end, and must fit into what is around it', async (t) => {
  const path = join(await temporaryFolder(t), 'boxes');
  const long = (bytes: number, content: number) => {
    const header = Buffer.alloc(16, 'xxxxlongxxxxxxxx', 'latin1');
    header.writeUInt32BE(1);
    header.writeBigUInt64BE(BigInt(bytes), 8);
    return Buffer.concat([header, Buffer.alloc(content)]);
  };
  const open = box('last', Buffer.alloc(5));
  open.writeUInt32BE(0);
  const short = box('tiny');
  short.writeUInt32BE(7);
  const [a, b] = [box('aaaa', Buffer.alloc(3)), box('bbbb')];
  const boxA = { type: 'aaaa', at: 0, from: 8, to: 11 };
  const cases: readonly (readonly [bytes: Buffer, found: readonly object[], isCutOff: boolean])[] = [
    [Buffer.concat([a, b]), [boxA, { type: 'bbbb', at: 11, from: 19, to: 19 }], false],
    [Buffer.concat([a, long(19, 3)]), [boxA, { type: 'long', at: 11, from: 27, to: 30 }], false],
    [Buffer.concat([a, open]), [boxA, { type: 'last', at: 11, from: 19, to: 24 }], false],
    [Buffer.concat([a, Buffer.alloc(4)]), [boxA], false],
    [Buffer.concat([a, Buffer.alloc(7)]), [boxA], false],
    [Buffer.concat([a, b.subarray(0, 7)]), [boxA], false],
    [Buffer.alloc(0), [], false],
    [Buffer.concat([a, long(20, 3)]), [boxA], true],
    [Buffer.concat([a, long(15, 3)]), [boxA], true],
    [Buffer.concat([a, long(19, 3).subarray(0, 15)]), [boxA], true],
    [Buffer.concat([a, short]), [boxA], true],
    [a.subarray(0, -1), [], true],
  ];
  for (const [bytes, expected, isCutOff] of cases) {
    const within = { from: 0, to: bytes.length };
    const inMemory: object[] = [];
    const inFile: object[] = [];
    await writeFile(path, bytes);
    await using handle = await openFile(path);
    const file = await toBoxFile(handle);
    const reads = [
      async () => {
        for (const one of boxesInMemory(bytes, within)) inMemory.push(one);
      },
      async () => {
        for await (const one of boxesIn(file, within)) inFile.push(one);
      },
    ];
    for (const read of reads) {
      if (isCutOff) await assert.rejects(read, BoxError);
      else await read();
    }
    assert.deepEqual([inMemory, inFile], [expected, expected], bytes.toString('latin1'));
  }
});
