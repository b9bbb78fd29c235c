import { readFile } from 'node:fs/promises';
import type { FrameSize } from '../domain/frame-size.ts';
import { isPhotoFormat, sharp } from './image-library.ts';

/** What a browser shows without asking: a JPEG of grey or of the usual colours, not one for a printing press. */
const shownColours: readonly string[] = ['srgb', 'b-w'];

/**
 * Whether the file is a whole JPEG of exactly this size, judged by its header and its last two bytes: the pixels were encoded by
 * the provider, and decoding them would cost a good part of what making a poster costs. The caller bounds the file's size.
 */
export async function isPosterOf(path: string, { widthPx, heightPx }: FrameSize): Promise<boolean> {
  const bytes = await readFile(path);
  if (!isPhotoFormat(bytes) || bytes.readUInt16BE(bytes.length - 2) !== endOfImage) return false;
  const header = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => undefined);
  if (header?.format !== 'jpeg' || !shownColours.includes(header.space)) return false;
  // A picture that is to be turned before it is shown has another size than it says.
  return header.width === widthPx && header.height === heightPx && (header.orientation ?? 1) === 1;
}

const endOfImage = 0xff_d9;
