import { readFile } from 'node:fs/promises';
import { formatOfBytes } from '../references/file-format.ts';
import { reencodeJpegPngOrWebp, ImageRefusal, type PlainJpeg } from './reencode-jpeg-png-webp.ts';
import { isPhotoFormat } from './image-library.ts';
import { runVideoReader } from '../video/read-video.ts';
import { imageLimitsText, whatToSend } from '../references/upload-rules.ts';
import { VideoFileError } from '../video/video-file-error.ts';

/** Formats that are decoded in the process of `video-reader.ts`: their decoders are larger, and have been attacked more often. */
const convertedFormats: ReadonlySet<string> = new Set([
  'a HEIC image',
  'an AVIF image',
  'a GIF image',
  'a BMP image',
  'a TIFF image',
]);

type Reading = {
  /** The limit of the file, which messages state. */
  readonly maxMegabytes: number;
  readonly signal?: AbortSignal | undefined;
};

/** Reads an image in any format that is accepted. Throws `ImageRefusal`, whose message names the format found and what to send. */
export async function reencodeAnyImage(path: string, { maxMegabytes, signal }: Reading): Promise<PlainJpeg> {
  const bytes = await readFile(path);
  const format = isPhotoFormat(bytes) ? undefined : formatOfBytes(bytes)?.name;
  try {
    return format !== undefined && convertedFormats.has(format)
      ? await readElsewhere(path, signal)
      : await reencodeJpegPngOrWebp(bytes);
  } catch (error) {
    if (!(error instanceof ImageRefusal)) throw error;
    throw new ImageRefusal(explain(error, formatOfBytes(bytes)?.name ?? 'an image', maxMegabytes), { cause: error });
  }
}

/** The process ends with the file that crashes it, or that takes too much memory. */
async function readElsewhere(path: string, signal: AbortSignal | undefined): Promise<PlainJpeg> {
  const image = await runVideoReader('picture', path, signal).catch((error: unknown) => {
    if (!(error instanceof VideoFileError)) throw error;
    throw new ImageRefusal('cannot be decoded', { cause: error, reason: 'crash' });
  });
  if ('refusal' in image) throw new ImageRefusal(image.refusal, { reason: image.reason });
  return { ...image, jpeg: Buffer.from(image.jpeg) };
}

function explain({ message, reason }: ImageRefusal, format: string, maxMegabytes: number): string {
  if (reason === 'damage') return `is ${format} that is damaged or cut off`;
  if (reason === undefined) return message;
  const found = reason === 'crash' ? `is ${format} that cannot be decoded` : message;
  return `${found}; ${whatToSend('image', imageLimitsText(maxMegabytes))}`;
}
