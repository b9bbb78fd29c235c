import type { Sharp } from 'sharp';
import { requireImageSides } from './reencode-jpeg-png-webp.ts';
import { damagedImageError } from './image-refused-error.ts';
import { ImageRefusedError } from './image-refused-error.ts';
import { sharp } from './restricted-sharp.ts';

// libvips reads no BMP. Each pixel is read with its bounds checked, so a crafted file can be refused only.

const infoHeader = 40;
const [uncompressed, withMasks, withAlphaMask] = [0, 3, 6];

type Header = {
  readonly width: number;
  readonly height: number;
  /** The last row comes first, unless the height is negative. */
  readonly isUpward: boolean;
  readonly bits: number;
  readonly pixelsAt: number;
  readonly paletteAt: number;
  readonly compression: number;
};

/** Decodes an uncompressed BMP of 1, 4, 8, 16, 24 or 32 bits. Throws `ImageRefusedError`. */
export function decodeBmp(bytes: Buffer): Sharp {
  const header = orDamaged(() => headerOf(bytes));
  const { width, height, bits, compression } = header;
  requireImageSides(width, height);
  if (![uncompressed, withMasks, withAlphaMask].includes(compression) || ![1, 4, 8, 16, 24, 32].includes(bits))
    throw new ImageRefusedError('is a compressed BMP image', { reason: 'format' });
  const pixels = orDamaged(() => pixelsOf(bytes, header));
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** Reading beyond the end of the file throws a RangeError. */
function orDamaged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw damagedImageError(error);
  }
}

function headerOf(bytes: Buffer): Header {
  const headerBytes = bytes.readUInt32LE(14);
  const pixelsAt = bytes.readUInt32LE(10);
  if (headerBytes < infoHeader) {
    const [width, height] = [bytes.readUInt16LE(18), bytes.readUInt16LE(20)];
    return { width, height, isUpward: true, bits: bytes.readUInt16LE(24), pixelsAt, paletteAt: 26, compression: 0 };
  }
  const height = bytes.readInt32LE(22);
  const compression = bytes.readUInt32LE(30);
  const masks = headerBytes === infoHeader && compression === withMasks ? 12 : 0;
  const size = { width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(height), isUpward: height > 0 };
  return { ...size, bits: bytes.readUInt16LE(28), pixelsAt, paletteAt: 14 + headerBytes + masks, compression };
}

function pixelsOf(bytes: Buffer, header: Header): Buffer {
  const { width, height, bits, isUpward, pixelsAt } = header;
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  if (pixelsAt + rowBytes * height > bytes.length) throw new RangeError('the rows are cut off');
  const colorAt =
    bits <= 8 ? paletteColors(bytes, header) : bits === 24 ? trueColors(bytes) : maskedColors(bytes, header);
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0, to = 0; y < height; y += 1) {
    const row = pixelsAt + (isUpward ? height - 1 - y : y) * rowBytes;
    for (let x = 0; x < width; x += 1, to += 3) pixels.writeUIntBE(colorAt(row, x), to, 3);
  }
  return pixels;
}

/** Returns the color of a pixel, red first. */
type ColorAt = (row: number, x: number) => number;

function trueColors(bytes: Buffer): ColorAt {
  return (row, x) => bytes.readUIntLE(row + 3 * x, 3);
}

/** The colors of the palette have four bytes, three in the oldest header. */
function paletteColors(bytes: Buffer, { bits, paletteAt, pixelsAt }: Header): ColorAt {
  const step = paletteAt === 26 ? 3 : 4;
  const count = Math.min(2 ** bits, Math.floor((pixelsAt - paletteAt) / step));
  const palette = Array.from({ length: count }, (_, index) => bytes.readUIntLE(paletteAt + index * step, 3));
  const perByte = 8 / bits;
  return (row, x) => {
    const shift = 8 - bits * ((x % perByte) + 1);
    return palette[((bytes[row + Math.floor(x / perByte)] ?? 0) >> shift) & (2 ** bits - 1)] ?? 0;
  };
}

function maskedColors(bytes: Buffer, { bits, compression }: Header): ColorAt {
  const usual = bits === 16 ? [0x7c00, 0x03e0, 0x001f] : [0xff0000, 0xff00, 0xff];
  const at = 14 + infoHeader;
  const masks = compression === uncompressed ? usual : [0, 4, 8].map((offset) => bytes.readUInt32LE(at + offset));
  const [red, green, blue] = masks.map((mask) => channelOf(mask));
  const size = bits / 8;
  return (row, x) => {
    const value = bytes.readUIntLE(row + x * size, size);
    return ((red?.(value) ?? 0) << 16) | ((green?.(value) ?? 0) << 8) | (blue?.(value) ?? 0);
  };
}

/** Returns the function that scales the bits of a mask to a byte. */
function channelOf(mask: number): (value: number) => number {
  const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
  const max = mask >>> shift;
  return (value) => (max === 0 ? 0 : Math.round((((value & mask) >>> shift) * 255) / max));
}
