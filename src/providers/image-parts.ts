import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { MediaByRole, ReferenceImage, ReferenceMedia } from '../tasks/ports.ts';
import { TaskError } from '../platform/errors.ts';
import type { RequestBody } from './contract.ts';

// Reference images and frames as parts of a request to an upstream.

/** The frames and the reference images of a request, each in the form that its upstream takes. */
export type ImageParts<Part> = Omit<MediaByRole<Part>, 'videos' | 'audios'>;

/** Encodes the frames and the images together, because the bounds of a request hold for all of them. */
export async function imageParts<Part>(
  { firstFrame, lastFrame, images }: ReferenceMedia,
  encode: (images: readonly ReferenceImage[]) => Promise<readonly Part[]>,
): Promise<ImageParts<Part>> {
  const frames = [firstFrame, lastFrame].filter((one) => one !== undefined);
  const parts = await encode([...frames, ...images]);
  const first = firstFrame === undefined ? undefined : parts[0];
  const last = lastFrame === undefined ? undefined : parts[frames.length - 1];
  return {
    ...(first !== undefined && { firstFrame: first }),
    ...(last !== undefined && { lastFrame: last }),
    images: parts.slice(frames.length),
  };
}

/** The image that an adaptive ratio follows. */
export function leadingImage({ firstFrame, lastFrame, images }: ReferenceMedia): ReferenceImage | undefined {
  return firstFrame ?? images[0] ?? lastFrame;
}

/** `data:` URLs of the images, in order, of at most `maxBytes` characters in all. Throws as `fittingImages` does. */
export async function imageDataUrls(images: readonly ReferenceImage[], maxBytes: number): Promise<readonly string[]> {
  const prefix = 'data:image/jpeg;base64,';
  // Base64 writes four characters for three bytes, and fills up the last four.
  const perImage = prefix.length + 4;
  const jpegs = await fittingImages(images, Math.floor(((maxBytes - images.length * perImage) * 3) / 4));
  return jpegs.map((jpeg) => prefix + jpeg.toString('base64'));
}

/** Images that are too large for a provider are scaled down in these steps. */
const shrinkings = [
  { maxSidePx: 2048, quality: 90 },
  { maxSidePx: 1024, quality: 80 },
] as const;

type Shrinking = (typeof shrinkings)[number];

/**
 * The images, in order, of at most `maxBytes` in all: as they are, or all of them made smaller. Throws a `TaskError`
 * (`image_invalid`) when they do not fit even then.
 */
export async function fittingImages(images: readonly ReferenceImage[], maxBytes: number): Promise<readonly Buffer[]> {
  for (const shrinking of [undefined, ...shrinkings]) {
    const jpegs = await jpegsWithin(images, maxBytes, shrinking);
    if (jpegs !== undefined) return jpegs;
  }
  throw new TaskError('image_invalid', 'The images are too large in all for this model.');
}

/** Stops at the first image that is too much, so that no more than `maxBytes` and one image are held. */
async function jpegsWithin(
  images: readonly ReferenceImage[],
  maxBytes: number,
  shrinking: Shrinking | undefined,
): Promise<readonly Buffer[] | undefined> {
  const jpegs: Buffer[] = [];
  let bytes = 0;
  for (const { path } of images) {
    const original = await readFile(path);
    const jpeg = shrinking === undefined ? original : await shrunk(original, shrinking);
    bytes += jpeg.length;
    if (bytes > maxBytes) return undefined;
    jpegs.push(jpeg);
  }
  return jpegs;
}

async function shrunk(jpeg: Buffer, { maxSidePx, quality }: Shrinking): Promise<Buffer> {
  const size = { width: maxSidePx, height: maxSidePx, fit: 'inside', withoutEnlargement: true } as const;
  return await sharp(jpeg).resize(size).jpeg({ quality }).toBuffer();
}

/** A `multipart/form-data` body; a Buffer is the JPEG of an image. A name may come several times. */
export async function multipartBody(fields: readonly (readonly [string, string | Buffer])[]): Promise<RequestBody> {
  const form = new FormData();
  for (const [index, [name, value]] of fields.entries()) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([Uint8Array.from(value)], { type: 'image/jpeg' }), `image-${index}.jpg`);
  }
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { contentType, bytes: new Uint8Array(await encoded.arrayBuffer()) };
}
