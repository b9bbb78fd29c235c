import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseRawPhoto } from '../../../src/media/pictures/refuse-raw-photo.ts';

type Tag = readonly [name: number, value: number];
type Tiff = {
  readonly isLittle?: boolean;
  readonly version?: number;
  readonly count?: number;
  readonly listAt?: number;
};

/** The beginning of a TIFF: the list of the tags of its first image, and nothing behind it. */
function tiffOf(tags: readonly Tag[], { isLittle = true, version = 42, count, listAt = 8 }: Tiff = {}): Buffer {
  const bytes = Buffer.alloc(10 + 12 * tags.length);
  const short = (value: number, at: number) =>
    isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  bytes.write(isLittle ? 'II' : 'MM');
  short(version, 2);
  long(listAt, 4);
  short(count ?? tags.length, 8);
  for (const [index, [name, value]] of tags.entries()) {
    short(name, 10 + 12 * index);
    short(4, 12 + 12 * index);
    long(1, 14 + 12 * index);
    long(value, 18 + 12 * index);
  }
  return bytes;
}

const width: Tag = [256, 600];
const dng: Tag = [50_706, 0x0000_0401];
const isRaw = { name: 'ImageRefusedError', message: 'is a raw photo', reason: 'format' };

for (const isLittle of [true, false])
  test(`a TIFF that begins with a preview, or names a version of DNG, is a raw photo: ${isLittle ? 'II' : 'MM'}`, () => {
    const fill = (count: number) => Array.from({ length: count }, () => width);
    for (const tags of [[[254, 1]], [width, [254, 3]], [width, dng], [...fill(511), dng]] as const)
      assert.throws(() => refuseRawPhoto(tiffOf(tags, { isLittle })), isRaw, JSON.stringify(tags.at(-1)));
    for (const tags of [[], [width], [[254, 0]], [[254, 2], width], [[257, 1]], [...fill(512), dng]] as const)
      assert.doesNotThrow(() => refuseRawPhoto(tiffOf(tags, { isLittle })), JSON.stringify(tags.at(-1)));
  });

test('a TIFF of another version, with a short list, or with a list that is not in the file, is left to the decoder', () => {
  for (const bytes of [
    tiffOf([dng], { version: 43 }),
    tiffOf([width, dng], { count: 1 }),
    tiffOf([width], { count: 2 }),
    tiffOf([width, dng]).subarray(0, -1),
    tiffOf([], { listAt: 9 }),
    tiffOf([dng], { listAt: 1_000_000 }),
    tiffOf([dng]).subarray(0, 7),
  ])
    assert.doesNotThrow(() => refuseRawPhoto(bytes));
  assert.throws(() => refuseRawPhoto(tiffOf([width, dng], { count: 9 })), isRaw);
});
