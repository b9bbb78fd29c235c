import { createRequire } from 'node:module';
import type { Sharp } from 'sharp';
import { requireImageSides } from './reencode-jpeg-png-webp.ts';
import { damagedImageError } from './image-refused-error.ts';
import { ImageRefusedError } from './image-refused-error.ts';
import { heifColorsOf, convertToSrgb } from './heif-colors-to-srgb.ts';
import { sharp } from './restricted-sharp.ts';

/** The parts of the library that are used; its own types are those of another entry. */
type HeifImage = {
  readonly handle: object;
  readonly get_width: () => number;
  readonly get_height: () => number;
  readonly is_primary: () => boolean;
  readonly has_alpha_channel: () => boolean;
};
type Channel = { readonly width: number; readonly height: number; readonly stride: number; readonly data: Uint8Array };
type Library = {
  readonly HeifDecoder: new () => { readonly decode: (bytes: Uint8Array) => readonly HeifImage[] };
  readonly heif_js_decode_image2: (
    handle: object,
    colorspace: unknown,
    chroma: unknown,
  ) => { readonly code?: unknown; readonly message?: string; readonly channels?: readonly Channel[] };
  readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown };
  readonly heif_chroma: Readonly<Record<'heif_chroma_interleaved_RGB' | 'heif_chroma_interleaved_RGBA', unknown>>;
};

/** Decodes the main picture of a HEIC, upright. sharp reads AVIF, but not the HEVC of phones. Throws `ImageRefusedError`. */
export async function decodeHeic(bytes: Buffer): Promise<Sharp> {
  // The package is CommonJS, and declares no types for this entry.
  const library = createRequire(import.meta.url)('libheif-js/wasm-bundle') as Library;
  const images = new library.HeifDecoder().decode(bytes);
  const image = images.find((one) => one.is_primary()) ?? images[0];
  if (image === undefined) throw damagedImageError(new Error('the file has no picture'));
  // The size that the file claims. The library refuses a picture of another size, and the process ends if it takes too much memory.
  const [width, height] = [image.get_width(), image.get_height()];
  requireImageSides(width, height);
  if (width * height > maxPixels) {
    const megapixels = Math.round((width * height) / 1e6);
    throw new ImageRefusedError(
      `has ${megapixels} megapixels; a HEIC image may have ${maxPixels / 1e6}, so send it as JPEG`,
    );
  }
  const { data, ...raw } = pixelsOf(library, image);
  await convertToSrgb({ data, channels: raw.channels }, heifColorsOf(bytes));
  return sharp(data, { raw });
}

/** A picture needs 19 bytes a pixel while it is decoded, and the API has a gigabyte by default. */
const maxPixels = 30_000_000;

/** The pixels stay where the library has written them, because a copy could take 100 MB. */
function pixelsOf(library: Library, image: HeifImage) {
  const channels: 3 | 4 = image.has_alpha_channel() ? 4 : 3;
  const chroma = library.heif_chroma[`heif_chroma_interleaved_RGB${channels === 4 ? 'A' : ''}`];
  const decoded = library.heif_js_decode_image2(image.handle, library.heif_colorspace.heif_colorspace_RGB, chroma);
  const [plane] = decoded.channels ?? [];
  if (plane === undefined) throw damagedImageError(new Error(`the picture cannot be decoded: ${decoded.message}`));
  const { width, height, stride, data } = plane;
  const rowBytes = width * channels;
  // Rows may be padded.
  if (stride !== rowBytes)
    for (let row = 1; row < height; row += 1) data.copyWithin(row * rowBytes, row * stride, row * stride + rowBytes);
  return { data: data.subarray(0, height * rowBytes), width, height, channels };
}
