import { deflateSync } from 'node:zlib';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';

// Pictures that strangers send, made on the spot: nothing here is a file of its own.

type Rgba = { readonly r: number; readonly g: number; readonly b: number; readonly alpha?: number };

export const red: Rgba = { r: 220, g: 30, b: 40 };

export function plainImage(width: number, height: number, background: Rgba = red) {
  return sharp({ create: { width, height, channels: background.alpha === undefined ? 3 : 4, background } });
}

/** Noise cannot be compressed, so the file is as long as a photograph and can be cut. */
export function noise(width: number, height: number) {
  const noiseOptions = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  return sharp({ create: { width, height, channels: 3, background: red, noise: noiseOptions } });
}

/** Left half red, right half blue, stored with an EXIF orientation that turns it by 90 degrees clockwise. */
export async function turnedPhoto(): Promise<Buffer> {
  const blue = await plainImage(200, 300, { r: 20, g: 30, b: 220 }).png().toBuffer();
  return await plainImage(400, 300)
    .composite([{ input: blue, left: 200, top: 0 }])
    .jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
    .withExif({ IFD0: { Copyright: 'somebody' } })
    .withMetadata({ orientation: 6 })
    .toBuffer();
}

/** Two frames of 320 by 320 px. */
export async function animatedWebp(): Promise<Buffer> {
  const raw = { width: 320, height: 640, channels: 3, pageHeight: 320 } as const;
  const frames = Buffer.alloc(320 * 640 * 3).fill(200, 0, 320 * 320 * 3);
  return await sharp(frames, { raw })
    .webp({ loop: 0, delay: [100, 100] })
    .toBuffer();
}

/** A PNG that claims any size; its pixels are missing, or `rows` of zeros. */
export function claimedPng(width: number, height: number, pixels: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([signature, pngHeader(width, height), pngChunk('IDAT', deflateSync(pixels)), pngChunk('IEND')]);
}

/** A still PNG with the chunk that makes browsers play it. */
export async function animatedPng(): Promise<Buffer> {
  const still = await plainImage(320, 320).png().toBuffer();
  const afterHeader = signature.length + pngHeader(1, 1).length;
  const control = pngChunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]));
  return Buffer.concat([still.subarray(0, afterHeader), control, still.subarray(afterHeader)]);
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Eight bits of grey a pixel. */
function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  return pngChunk('IHDR', header);
}

function pngChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(checksum(named), named.length + 4);
  return framed;
}

/** CRC-32, which `node:zlib` has only from Node 22 on. */
function checksum(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
