import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { reencodeAnyImage } from '../../../src/media/pictures/reencode-any-image.ts';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import { animatedWebp, plainImage } from '../../support/hostile/hostile-images.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function decoded(t: TestContext, bytes: Buffer) {
  const path = join(await temporaryFolder(t), 'image');
  await writeFile(path, bytes);
  return await reencodeAnyImage(path, { maxMegabytes: 7 });
}

/** A red BMP of 24 bits, whose rows need no padding. */
function redBmp(): Buffer {
  const header = Buffer.alloc(54);
  header.write('BM');
  for (const [at, value] of [
    [10, 54],
    [14, 40],
    [18, 320],
    [22, 300],
  ] as const)
    header.writeUInt32LE(value, at);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return Buffer.concat([header, Buffer.alloc(320 * 300 * 3, Buffer.from([40, 30, 220]))]);
}

const image = () => plainImage(320, 300);

for (const [format, make] of [
  ['JPEG', () => image().jpeg().toBuffer()],
  ['GIF', () => image().gif().toBuffer()],
  ['TIFF', () => image().tiff().toBuffer()],
  ['AVIF', () => image().avif({ effort: 0 }).toBuffer()],
  ['BMP', async () => redBmp()],
] as const)
  test(`a ${format} becomes a JPEG with its size and its color`, async (t) => {
    const { jpeg, widthPx, heightPx } = await decoded(t, await make());
    assert.deepEqual([widthPx, heightPx], [320, 300]);
    const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
    assert.deepEqual([info.width, info.height, info.channels], [320, 300, 3]);
    const pixel = [...data.subarray(0, 3)];
    assert.ok(
      pixel.every((value, index) => Math.abs(value - ([220, 30, 40][index] ?? NaN)) <= 8),
      pixel.join(),
    );
  });

const send = 'send a JPEG, PNG, WebP, HEIC, AVIF, GIF, BMP or TIFF image of at most 7 MB, each side 300 to 6000 px';

/** A TIFF with one tag: the version of DNG. */
const rawPhoto = Buffer.from('49492a00080000000100000000000000000000000000', 'hex');
rawPhoto.writeUInt16LE(50_706, 10);

for (const [what, make, message] of [
  ['text', async () => Buffer.from('hello'), `is plain text; ${send}`],
  ['an SVG', async () => Buffer.from('<svg xmlns="x"/>'), `is an SVG image; ${send}`],
  ['nothing', async () => Buffer.alloc(0), 'is empty'],
  ['a raw photo', async () => rawPhoto, `is a raw photo; ${send}`],
  ['a compressed BMP', async () => withCompression(redBmp()), `is a compressed BMP image; ${send}`],
  ['a small TIFF', () => plainImage(299, 300).tiff().toBuffer(), 'is 299×300 px; each side must have 300 to 6000 px'],
  [
    'a moving GIF',
    async () =>
      sharp(await animatedWebp(), { animated: true })
        .gif()
        .toBuffer(),
    'is animated; send a still image',
  ],
  [
    'a TIFF that is cut off',
    async () => (await image().tiff().toBuffer()).subarray(0, 600),
    'is a TIFF image that is damaged or cut off',
  ],
  ['a BMP that is cut off', async () => redBmp().subarray(0, -1), 'is a BMP image that is damaged or cut off'],
  [
    'a JPEG that is cut off',
    async () => (await image().jpeg().toBuffer()).subarray(0, -300),
    'is a JPEG image that is damaged or cut off',
  ],
] as const)
  test(`${what} is refused, with what to send where another file would help`, async (t) => {
    await assert.rejects(decoded(t, await make()), { name: 'ImageRefusedError', message });
  });

function withCompression(bmp: Buffer): Buffer {
  bmp.writeUInt32LE(1, 30);
  return bmp;
}
