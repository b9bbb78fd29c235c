import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeBmp } from '../../../src/media/pictures/decode-bmp.ts';

// Files are written by hand here, so that the test does not depend on the code that it judges. Their rows have an odd width, and are padded.

type Rgb = readonly [red: number, green: number, blue: number];
type Bmp = {
  readonly bits: number;
  /** The stored number of a pixel. */
  readonly codeAt: (x: number, y: number) => number;
  readonly isUpward?: boolean;
  readonly headerBytes?: 12 | 40 | 108;
  readonly compression?: number;
  readonly masks?: readonly number[];
  readonly palette?: readonly Rgb[];
  readonly width?: number;
  readonly height?: number;
};

function bmpOf(file: Bmp): Buffer {
  const { bits, codeAt, isUpward = true, headerBytes = 40, compression = 0 } = file;
  const { masks = [], palette = [], width = 301, height = 300 } = file;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(headerBytes, 0);
  if (headerBytes === 12) {
    for (const [index, value] of [width, height, 1, bits].entries()) header.writeUInt16LE(value, 4 + 2 * index);
  } else {
    header.writeInt32LE(width, 4);
    header.writeInt32LE(isUpward ? height : -height, 8);
    header.writeUInt16LE(1, 12);
    header.writeUInt16LE(bits, 14);
    header.writeUInt32LE(compression, 16);
  }
  const maskBytes = Buffer.alloc(4 * masks.length);
  for (const [index, mask] of masks.entries()) maskBytes.writeUInt32LE(mask, 4 * index);
  // The long header contains the masks, and the short one precedes them.
  if (headerBytes === 108) maskBytes.copy(header, 40);
  const outside = headerBytes === 40 ? maskBytes : Buffer.alloc(0);
  const end = headerBytes === 12 ? [] : [0];
  const colors = Buffer.from(palette.flatMap(([red, green, blue]) => [blue, green, red, ...end]));
  let rowBytes = Math.ceil((width * bits) / 8);
  while (rowBytes % 4 !== 0) rowBytes += 1;
  const rows = Buffer.alloc(rowBytes * height, 0xff);
  for (let y = 0; y < height; y += 1) {
    const row = (isUpward ? height - 1 - y : y) * rowBytes;
    rows.fill(0, row, row + Math.ceil((width * bits) / 8));
    for (let x = 0; x < width; x += 1) {
      const at = row + Math.floor((x * bits) / 8);
      if (bits >= 8) rows.writeUIntLE(codeAt(x, y), at, bits / 8);
      else rows[at] = (rows[at] ?? 0) | (codeAt(x, y) << (8 - bits - ((x * bits) % 8)));
    }
  }
  const start = Buffer.alloc(14);
  start.write('BM');
  start.writeUInt32LE(14 + header.length + outside.length + colors.length, 10);
  return Buffer.concat([start, header, outside, colors, rows]);
}

async function assertPixels(file: Bmp, colorOf: (code: number) => Rgb): Promise<void> {
  const { width = 301, height = 300 } = file;
  const { data, info } = await decodeBmp(bmpOf(file)).raw().toBuffer({ resolveWithObject: true });
  assert.deepEqual([info.width, info.height, info.channels], [width, height, 3]);
  const expected = Buffer.alloc(3 * width * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) expected.set(colorOf(file.codeAt(x, y)), 3 * (y * width + x));
  assert.ok(data.equals(expected));
}

const trueColor = (x: number, y: number) => ((x % 256) << 16) | ((y % 256) << 8) | ((x + y) % 256);
const bytesOf = (code: number): Rgb => [(code >> 16) & 0xff, (code >> 8) & 0xff, code & 0xff];
const scaled = (code: number, shift: number, bits: number) =>
  Math.round((((code >> shift) & (2 ** bits - 1)) * 255) / (2 ** bits - 1));
const paletteOf = (count: number) =>
  Array.from({ length: count }, (_, i): Rgb => [(37 * i + 1) % 256, (59 * i + 2) % 256, (101 * i + 3) % 256]);
const indexes = (count: number) => (x: number, y: number) => (x + 3 * y) % count;
const black: Rgb = [0, 0, 0];

describe('a BMP has its pixels, first row on top, as', () => {
  for (const isUpward of [true, false])
    test(`24 bits, written ${isUpward ? 'upward' : 'downward'}`, () =>
      assertPixels({ bits: 24, codeAt: trueColor, isUpward }, bytesOf));

  test('24 bits behind the oldest header', () =>
    assertPixels({ bits: 24, codeAt: trueColor, headerBytes: 12 }, bytesOf));

  test('32 bits, whose fourth byte is no color', () =>
    assertPixels({ bits: 32, codeAt: (x, y) => 0xc0_00_00_00 + trueColor(x, y) }, bytesOf));

  test('16 bits of five for each color', () =>
    assertPixels({ bits: 16, codeAt: (x, y) => (97 * x + 131 * y) % 0x1_00_00 }, (code) => [
      scaled(code, 10, 5),
      scaled(code, 5, 5),
      scaled(code, 0, 5),
    ]));

  for (const headerBytes of [40, 108] as const)
    test(`16 bits with masks behind or in a header of ${headerBytes} bytes`, () =>
      assertPixels(
        {
          bits: 16,
          codeAt: (x, y) => (97 * x + 131 * y) % 0x1_00_00,
          headerBytes,
          compression: 3,
          masks: [0xf800, 0x07e0, 0x001f],
        },
        (code) => [scaled(code, 11, 5), scaled(code, 5, 6), scaled(code, 0, 5)],
      ));

  test('32 bits with masks, also for transparency, and without one for blue', () =>
    assertPixels(
      {
        bits: 32,
        codeAt: (x, y) => 0x80_00_00_00 + trueColor(x, y),
        headerBytes: 108,
        compression: 6,
        masks: [0xff, 0xff00, 0, 0xff_00_00_00],
      },
      (code) => [code & 0xff, (code >> 8) & 0xff, 0],
    ));

  for (const [bits, headerBytes] of [
    [1, 40],
    [4, 40],
    [8, 40],
    [8, 12],
    [4, 108],
  ] as const)
    test(`${bits} bits with a palette behind a header of ${headerBytes} bytes`, () => {
      const palette = paletteOf(2 ** bits);
      return assertPixels({ bits, headerBytes, palette, codeAt: indexes(2 ** bits) }, (code) => palette[code] ?? black);
    });

  test('a palette with fewer colors than numbers, of which the others are black', () => {
    const palette = paletteOf(3);
    return assertPixels({ bits: 4, palette, codeAt: indexes(16) }, (code) => palette[code] ?? black);
  });
});

const plain: Bmp = { bits: 24, codeAt: trueColor };

test('other compressions and numbers of bits are refused, and may be sent in another format', () => {
  const codeAt = () => 0;
  for (const file of [
    { ...plain, compression: 1 },
    { ...plain, compression: 2 },
    { ...plain, compression: 4 },
    { ...plain, compression: 5 },
    { bits: 2, codeAt },
    { bits: 48, codeAt },
  ])
    assert.throws(() => decodeBmp(bmpOf(file)), {
      name: 'ImageRefusedError',
      message: 'is a compressed BMP image',
      reason: 'format',
    });
});

test('a BMP that is cut off anywhere is damaged, and one of another size is refused with its size', () => {
  const whole = bmpOf(plain);
  for (const bytes of [0, 15, 30, whole.length - 1])
    assert.throws(() => decodeBmp(whole.subarray(0, bytes)), { name: 'ImageRefusedError', reason: 'damage' });
  assert.throws(() => decodeBmp(bmpOf({ ...plain, width: 299 })), { message: /^is 299×300 px/ });
  assert.throws(() => decodeBmp(bmpOf({ ...plain, height: 299, isUpward: false })), { message: /^is 301×299 px/ });
});
