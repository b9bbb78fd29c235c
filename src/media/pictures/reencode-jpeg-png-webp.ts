import type { Sharp } from 'sharp';
import { formatOfBytes } from '../references/file-format.ts';
import { isJpegPngOrWebp, sharp } from './restricted-sharp.ts';
import { imageSidePx } from '../references/upload-limits-and-addresses.ts';
import { damagedImageError, ImageRefusedError } from './image-refused-error.ts';

/** The largest image takes about three seconds on one core, and a busy machine gives it a fraction of one. */
const maxDecodeSeconds = 300;

export type PlainJpeg = { readonly jpeg: Buffer; readonly widthPx: number; readonly heightPx: number };

/**
 * Decodes an untrusted JPEG, PNG or WebP into a plain picture that every provider accepts. `reencodeAnyImage` decodes every other format in a
 * process of its own. Throws `ImageRefusedError`.
 */
export async function reencodeJpegPngOrWebp(bytes: Buffer, maxSeconds = maxDecodeSeconds): Promise<PlainJpeg> {
  if (!isJpegPngOrWebp(bytes)) throw unreadableImageError(bytes);
  await requireValidImageHeader(bytes);
  if (isAnimatedPng(bytes)) throw new ImageRefusedError('is animated; send a still image');
  return await toPlainImage(sharp(bytes, untrustedImageOptions), maxSeconds);
}

/** A bomb is refused by the size it claims. A damaged image is refused, instead of completed with gray. */
export const untrustedImageOptions = { limitInputPixels: imageSidePx.max ** 2, failOn: 'error' } as const;

/**
 * An upright JPEG of high quality, sRGB with 8 bits, transparency on white, no metadata. An image that is not decoded within `maxSeconds`
 * is a plain error, because this machine is the cause, and may be retried.
 */
export async function toPlainImage(image: Sharp, maxSeconds = maxDecodeSeconds): Promise<PlainJpeg> {
  const startedAt = performance.now();
  const { data, info } = await image
    .timeout({ seconds: maxSeconds })
    .autoOrient()
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
    .toBuffer({ resolveWithObject: true })
    .catch((error: unknown) => {
      // libvips reports a run that it ends as a timeout, or as an error of the file.
      const isLate = performance.now() - startedAt >= maxSeconds * 1000;
      if (isLate || (error instanceof Error && error.message.startsWith('timeout: '))) {
        throw new Error(`an image was not decoded within ${maxSeconds} s`, { cause: error });
      }
      throw damagedImageError(error);
    });
  return { jpeg: data, widthPx: info.width, heightPx: info.height };
}

/** Reads the header alone: a bomb is refused by the size it claims, before a pixel of it is unpacked. */
export async function requireValidImageHeader(bytes: Buffer): Promise<void> {
  const header = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch((error: unknown) => {
      throw unreadableImageError(bytes, error);
    });
  const { width, height, pages = 1, format } = header;
  if (pages > 1 && format === 'tiff') throw new ImageRefusedError(`has ${pages} pages; send a single image`);
  if (pages > 1) throw new ImageRefusedError('is animated; send a still image');
  requireImageSides(width, height);
}

export function requireImageSides(width: number, height: number): void {
  const { min, max } = imageSidePx;
  if (Math.min(width, height) < min || Math.max(width, height) > max)
    throw new ImageRefusedError(`is ${width}×${height} px; each side must have ${min} to ${max} px`);
}

/** Names the format of a file that is no image, or none that is accepted. */
export function unreadableImageError(bytes: Buffer, cause?: unknown): ImageRefusedError {
  if (bytes.length === 0) return new ImageRefusedError('is empty', { cause });
  const format = isJpegPngOrWebp(bytes) ? undefined : formatOfBytes(bytes);
  return new ImageRefusedError(`is ${format?.name ?? 'not a readable image'}`, { cause, reason: 'format' });
}

/** libvips reads the first frame only, so this searches for the chunk of an animated PNG before its pixels. */
function isAnimatedPng(bytes: Buffer): boolean {
  const animationControl = bytes.indexOf('\0\0\0\x08acTL', 0, 'latin1');
  return animationControl !== -1 && animationControl < bytes.indexOf('IDAT', 0, 'latin1');
}
