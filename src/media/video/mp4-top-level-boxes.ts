import { open } from 'node:fs/promises';
import { type Box, BoxError, toBoxFile, type BoxFile, boxesIn, maxIndexBytes, readAt } from './mp4-boxes.ts';
import { VideoFileError } from './video-file-error.ts';

/** The `uuid` boxes of C2PA and of XMP. */
const c2paType = 'd8fec3d61b0e483c92975828877ec481';
export const xmpType = 'be7acfcb97a942e89c71999491e3afac';

/** The top level of an MP4. */
export type VideoLayout = {
  /** A player can start with the beginning of the file: the index precedes the data and has the times of all pictures. */
  readonly isIndexFirst: boolean;
  readonly isFragmented: boolean;
  /** The last box ends where the file does, so that another one can follow it. */
  readonly isWhole: boolean;
  readonly manifest: Box | undefined;
  readonly xmp: Box | undefined;
  readonly last: Box | undefined;
};

/** Reads the layout as far as the file can be read. Throws `VideoFileError` for a larger index than any reader should be given. */
export async function videoLayoutOf(path: string): Promise<VideoLayout> {
  await using handle = await open(path);
  const file = await toBoxFile(handle);
  const { bytes } = file;
  const types: string[] = [];
  let [manifest, xmp, last]: (Box | undefined)[] = [];
  let isWhole = true;
  try {
    for await (const box of boxesIn(file, { from: 0, to: bytes })) {
      if (box.type === 'moov' && box.to - box.at > maxIndexBytes)
        throw new VideoFileError(`the index has more than ${maxIndexBytes} bytes`);
      types.push(box.type);
      const extended = box.type === 'uuid' ? (await readAt(file, box.from, 16)).toString('hex') : undefined;
      if (extended === c2paType && (await hasManifest(file, box))) manifest ??= box;
      if (extended === xmpType) xmp ??= box;
      last = box;
    }
  } catch (error) {
    if (!(error instanceof BoxError)) throw error;
    isWhole = false;
  }
  const [index, data] = [types.indexOf('moov'), types.indexOf('mdat')];
  const isFragmented = types.includes('moof');
  return {
    isIndexFirst: !isFragmented && index !== -1 && index < data,
    isFragmented,
    isWhole: isWhole && last?.to === bytes,
    manifest,
    xmp,
    last,
  };
}

/** Other boxes of the type hold hashes of single fragments. Version, flags and purpose follow the type. */
async function hasManifest(file: BoxFile, { from }: Box): Promise<boolean> {
  return (await readAt(file, from + 20, 9)).toString('latin1') === 'manifest\0';
}
