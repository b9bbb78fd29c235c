import { readFile } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { formatOfBytes } from '../references/file-format.ts';
import { decodeBmp } from './decode-bmp.ts';
import { decodeHeic } from './decode-heic.ts';
import {
  requireValidImageHeader,
  unreadableImageError,
  toPlainImage,
  untrustedImageOptions,
} from './reencode-jpeg-png-webp.ts';
import { damagedImageError } from './image-refused-error.ts';
import { ImageRefusedError } from './image-refused-error.ts';
import { type HeifColors, heifColorsOf, convertToSrgb } from './heif-colors-to-srgb.ts';
import { sharp } from './restricted-sharp.ts';
import { refuseRawPhoto } from './refuse-raw-photo.ts';

// This runs in the process of `video-reader.ts` alone, because a crafted file can crash a decoder or use up all memory.

sharp.unblock({ operation: ['Heif', 'Nsgif', 'Tiff'].map((format) => `VipsForeignLoad${format}Buffer`) });

export type JpegOrRefusal =
  | { readonly jpeg: Uint8Array; readonly widthPx: number; readonly heightPx: number }
  | { readonly refusal: string; readonly reason: ImageRefusedError['reason'] };

/** Decodes a HEIC, AVIF, GIF, BMP or TIFF. */
export async function reencodeOtherFormatsUnsafely(path: string): Promise<JpegOrRefusal> {
  const bytes = await readFile(path);
  try {
    return await decodePicture(bytes);
  } catch (error) {
    if (error instanceof ImageRefusedError) return { refusal: error.message, reason: error.reason };
    throw error;
  }
}

async function decodePicture(bytes: Buffer): Promise<JpegOrRefusal> {
  const name = formatOfBytes(bytes)?.name;
  if (name === 'a HEIC image') return await toPlainImage(await decodeHeic(bytes));
  if (name === 'a BMP image') return await toPlainImage(decodeBmp(bytes));
  if (name === 'a TIFF image') refuseRawPhoto(bytes);
  else if (name !== 'an AVIF image' && name !== 'a GIF image') throw unreadableImageError(bytes);
  if (/^[^]{4}ftypavis/.test(bytes.toString('latin1', 0, 12)))
    throw new ImageRefusedError('is animated; send a still image');
  await requireValidImageHeader(bytes).catch((error: unknown) => {
    // Its first bytes are those of the format.
    throw error instanceof ImageRefusedError && error.reason === 'format' ? damagedImageError(error) : error;
  });
  const image = sharp(bytes, untrustedImageOptions);
  const colors = name === 'an AVIF image' ? heifColorsOf(bytes) : {};
  // libvips converts by a profile, and ignores the numbers.
  return await toPlainImage(colors.wide === undefined ? image : await convertedColors(image, colors));
}

async function convertedColors(image: Sharp, colors: HeifColors): Promise<Sharp> {
  const { data, info } = await image.toColourspace('srgb').removeAlpha().raw().toBuffer({ resolveWithObject: true });
  await convertToSrgb({ data, channels: 3 }, colors);
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 3 } });
}
