import { isPhotoFormat, sharp } from './image-library.ts';

/** Pixels a side, both bounds included. */
const minSidePx = 300;
const maxSidePx = 6000;

/** The largest image takes about three seconds on one core, and a busy machine gives it a fraction of one. */
const maxDecodeSeconds = 300;

/** An image that is refused; `message` continues the name of the image: `is animated`. */
export class ImageRefusal extends Error {
  override readonly name = 'ImageRefusal';
}

/**
 * Decodes untrusted bytes into a plain picture that every provider accepts: an upright JPEG of high quality, sRGB with 8 bits, transparency
 * on white, no metadata. Throws `ImageRefusal`. An image that is not decoded within `maxSeconds` is a plain error, because this machine is
 * the cause, and may be retried.
 */
export async function decodeImage(bytes: Buffer, maxSeconds = maxDecodeSeconds) {
  await checkHeader(bytes);
  const startedAt = performance.now();
  const { data, info } = await sharp(bytes, { limitInputPixels: maxSidePx * maxSidePx, failOn: 'error' })
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
      throw new ImageRefusal('is damaged or cut off', { cause: error });
    });
  return { jpeg: data, widthPx: info.width, heightPx: info.height };
}

/** Reads the header alone: a bomb is refused by the size it claims, before a pixel of it is unpacked. */
async function checkHeader(bytes: Buffer): Promise<void> {
  const { width, height, pages = 1 } = await header(bytes);
  if (pages > 1 || isAnimatedPng(bytes)) throw new ImageRefusal('is animated; send a still image');
  if (Math.min(width, height) < minSidePx || Math.max(width, height) > maxSidePx) {
    throw new ImageRefusal(`is ${width}×${height} px; each side must have ${minSidePx} to ${maxSidePx} px`);
  }
}

async function header(bytes: Buffer) {
  try {
    if (!isPhotoFormat(bytes)) throw new Error('the first bytes are those of another format');
    return await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw new ImageRefusal('is not a readable JPEG, PNG or WebP image', { cause: error });
  }
}

/** libvips reads the first frame only, so this searches for the chunk of an animated PNG before its pixels. */
function isAnimatedPng(bytes: Buffer): boolean {
  const animationControl = bytes.indexOf('\0\0\0\x08acTL', 0, 'latin1');
  return animationControl !== -1 && animationControl < bytes.indexOf('IDAT', 0, 'latin1');
}
