import { readFile } from 'node:fs/promises';
import { formatOfBytes } from '../references/file-format.ts';
import { reencodeJpegPngOrWebp, type PlainJpeg } from './reencode-jpeg-png-webp.ts';
import { ImageRefusedError } from './image-refused-error.ts';
import { isJpegPngOrWebp } from './restricted-sharp.ts';
import { runVideoReader } from '../video/run-video-reader.ts';
import { imageLimitsText, whatToSendText } from '../references/upload-limits-and-addresses.ts';
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

/** Reads an image in any format that is accepted. Throws `ImageRefusedError`, whose message names the format found and what to send. */
export async function reencodeAnyImage(path: string, { maxMegabytes, signal }: Reading): Promise<PlainJpeg> {
  const bytes = await readFile(path);
  const format = isJpegPngOrWebp(bytes) ? undefined : formatOfBytes(bytes)?.name;
  try {
    return format !== undefined && convertedFormats.has(format)
      ? await readElsewhere(path, signal)
      : await reencodeJpegPngOrWebp(bytes);
  } catch (error) {
    if (!(error instanceof ImageRefusedError)) throw error;
    throw new ImageRefusedError(explain(error, formatOfBytes(bytes)?.name ?? 'an image', maxMegabytes), {
      cause: error,
    });
  }
}

/** The process ends with the file that crashes it, or that takes too much memory. */
async function readElsewhere(path: string, signal: AbortSignal | undefined): Promise<PlainJpeg> {
  const image = await runVideoReader('picture', path, signal).catch((error: unknown) => {
    if (!(error instanceof VideoFileError)) throw error;
    throw new ImageRefusedError('cannot be decoded', { cause: error, reason: 'crash' });
  });
  if ('refusal' in image) throw new ImageRefusedError(image.refusal, { reason: image.reason });
  return { ...image, jpeg: Buffer.from(image.jpeg) };
}

function explain({ message, reason }: ImageRefusedError, format: string, maxMegabytes: number): string {
  if (reason === 'damage') return `is ${format} that is damaged or cut off`;
  if (reason === undefined) return message;
  const found = reason === 'crash' ? `is ${format} that cannot be decoded` : message;
  return `${found}; ${whatToSendText('image', imageLimitsText(maxMegabytes))}`;
}
