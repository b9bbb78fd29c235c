import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { reencodeJpegPngOrWebp } from '../../../src/media/pictures/reencode-jpeg-png-webp.ts';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import * as images from '../../support/hostile/hostile-images.ts';

/** Decodes the result again to raw pixels, as a provider would. */
async function decoded(body: Buffer) {
  const image = await reencodeJpegPngOrWebp(body);
  const metadata = await sharp(image.jpeg).metadata();
  const { data, info } = await sharp(image.jpeg).raw().toBuffer({ resolveWithObject: true });
  const pixel = (x: number, y: number) => [...data.subarray((y * info.width + x) * info.channels).subarray(0, 3)];
  return { image, metadata, pixel };
}

function assertNear(actual: readonly number[], expected: readonly number[], tolerance = 6): void {
  const isNear = actual.length === 3 && actual.every((value, i) => Math.abs(value - (expected[i] ?? NaN)) <= tolerance);
  assert.ok(isNear, `${actual.join()} is not near ${expected.join()}`);
}

const rgb = [220, 30, 40];

const accepted: readonly [string, () => Promise<Buffer>][] = [
  ['a JPEG', () => images.plainImage(400, 300).jpeg().toBuffer()],
  ['a progressive JPEG', () => images.plainImage(400, 300).jpeg({ progressive: true }).toBuffer()],
  ['a PNG', () => images.plainImage(400, 300).png().toBuffer()],
  ['an interlaced PNG', () => images.plainImage(400, 300).png({ progressive: true }).toBuffer()],
  ['a PNG with a palette', () => images.plainImage(400, 300).png({ palette: true }).toBuffer()],
  ['a 16-bit PNG', () => images.plainImage(400, 300).toColourspace('rgb16').png().toBuffer()],
  ['a WebP', () => images.plainImage(400, 300).webp().toBuffer()],
  ['a lossless WebP', () => images.plainImage(400, 300).webp({ lossless: true }).toBuffer()],
];

for (const [title, make] of accepted) {
  test(`${title} becomes a JPEG of 8-bit sRGB with its color and its size`, async () => {
    const { image, metadata, pixel } = await decoded(await make());
    assert.deepEqual([image.widthPx, image.heightPx], [400, 300]);
    assert.deepEqual(
      [metadata.format, metadata.space, metadata.depth, metadata.channels],
      ['jpeg', 'srgb', 'uchar', 3],
    );
    assertNear(pixel(200, 150), rgb);
  });
}

test('a CMYK JPEG becomes sRGB', async () => {
  const cmyk = await images.plainImage(400, 300).toColourspace('cmyk').jpeg().toBuffer();
  assert.equal((await sharp(cmyk).metadata()).space, 'cmyk');
  const { metadata, pixel } = await decoded(cmyk);
  assert.deepEqual([metadata.space, metadata.channels], ['srgb', 3]);
  assertNear(pixel(200, 150), rgb, 40);
});

test('a grey picture gets three channels', async () => {
  const { metadata, pixel } = await decoded(await images.plainImage(400, 300).greyscale().png().toBuffer());
  assert.equal(metadata.channels, 3);
  const [r, g, b] = pixel(0, 0);
  assert.ok(r === g && g === b);
});

test('a photograph is turned upright, and its metadata is removed', async () => {
  const photo = await images.turnedPhoto();
  const sent = await sharp(photo).metadata();
  assert.deepEqual([sent.orientation, sent.exif !== undefined], [6, true]);
  const { image, metadata, pixel } = await decoded(photo);
  assert.deepEqual([image.widthPx, image.heightPx], [300, 400]);
  assert.deepEqual([metadata.orientation, metadata.exif, metadata.icc, metadata.xmp], Array(4).fill(undefined));
  assertNear(pixel(150, 50), rgb);
  assertNear(pixel(150, 350), [20, 30, 220]);
});

for (const format of ['png', 'webp'] as const) {
  test(`transparency in a ${format} is white`, async () => {
    const clear = await images.plainImage(300, 300, { r: 0, g: 0, b: 0, alpha: 0 }).toFormat(format).toBuffer();
    const { metadata, pixel } = await decoded(clear);
    assert.equal(metadata.hasAlpha, false);
    assertNear(pixel(150, 150), [255, 255, 255]);
  });
}

for (const [width, height] of [
  [300, 300],
  [6000, 300],
  [300, 6000],
] as const) {
  test(`${width}×${height} px, at the edge of the limits, is accepted`, async () => {
    const { widthPx, heightPx } = await reencodeJpegPngOrWebp(await images.plainImage(width, height).png().toBuffer());
    assert.deepEqual([widthPx, heightPx], [width, height]);
  });
}

for (const [width, height] of [
  [299, 400],
  [400, 299],
  [6001, 400],
  [400, 6001],
  [1, 1],
] as const) {
  test(`${width}×${height} px, outside the limits, is refused, with its size`, async () => {
    const body = await images.plainImage(width, height).png().toBuffer();
    const message = `is ${width}×${height} px; each side must have 300 to 6000 px`;
    await assert.rejects(reencodeJpegPngOrWebp(body), { name: 'ImageRefusedError', message });
  });
}

const unreadable = 'is not a readable image';
const damaged = 'is damaged or cut off';
const animated = 'is animated; send a still image';
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400"/></svg>';

async function cut(image: Promise<Buffer>): Promise<Buffer> {
  const whole = await image;
  return whole.subarray(0, Math.floor(whole.length / 2));
}

const refused: readonly [string, () => Promise<Buffer> | Buffer, string | RegExp][] = [
  ['an empty file', () => Buffer.alloc(0), 'is empty'],
  ['a web page', () => Buffer.from('<!doctype html><title>404</title>'), 'is a web page'],
  ['an SVG', () => Buffer.from(svg), 'is an SVG image'],
  ['an SVG after a space', () => Buffer.from(` \n${svg}`), 'is an SVG image'],
  ['an SVG with a byte order mark', () => Buffer.from(`\ufeff<?xml version="1.0"?>${svg}`), 'is an SVG image'],
  ['a gzipped SVG', () => gzipSync(svg), 'is a gzip archive'],
  [
    'an SVG that begins as a JPEG',
    () => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.from(svg)]),
    unreadable,
  ],
  ['an SVG that begins as a WebP', () => Buffer.from(`RIFF    WEBP${svg}`), unreadable],
  ['a GIF', () => images.plainImage(400, 400).gif().toBuffer(), 'is a GIF image'],
  ['a TIFF', () => images.plainImage(400, 400).tiff().toBuffer(), 'is a TIFF image'],
  ['an AVIF', () => images.plainImage(400, 400).avif({ effort: 0 }).toBuffer(), 'is an AVIF image'],
  ['a GIMP image', () => Buffer.from('gimp xcf file\0'), 'is a GIMP image'],
  ['a WavPack file', () => Buffer.from('wvpk\x12\0\0\0', 'latin1'), 'is a WavPack file'],
  ['a DSD file', () => Buffer.from('DSD \x1c\0\0\0', 'latin1'), 'is a DSD file'],
  ['a PDF', () => Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n'), 'is a PDF document'],
  ['a JPEG of two bytes', () => Buffer.from([0xff, 0xd8]), unreadable],
  ['a gzipped image', () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), 'is a gzip archive'],
  ['a truncated JPEG', () => cut(images.noise(400, 400).jpeg().toBuffer()), damaged],
  ['a truncated PNG', () => cut(images.noise(400, 400).png().toBuffer()), damaged],
  ['a truncated WebP', () => cut(images.noise(400, 400).webp().toBuffer()), /damaged|not a readable/],
  ['a PNG without its pixels', () => images.claimedPng(400, 400), damaged],
  ['an animated WebP', () => images.animatedWebp(), animated],
  ['an animated PNG', () => images.animatedPng(), animated],
  ['a bomb that claims 60000×60000 px', () => images.claimedPng(60_000, 60_000), /60000×60000 px/],
  ['a bomb of the largest numbers', () => images.claimedPng(0x7fffffff, 0x7fffffff), /image/],
  ['a bomb of zeros', () => images.claimedPng(20_000, 20_000, Buffer.alloc(50_000_000)), /20000×20000 px/],
];

for (const [title, make, message] of refused) {
  test(`${title} is refused`, async () => {
    await assert.rejects(reencodeJpegPngOrWebp(await make()), { name: 'ImageRefusedError', message });
  });
}
