import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type Box, toBoxFile, type BoxFile, boxesIn, boxesInMemory, maxIndexBytes, readAt } from './mp4-boxes.ts';
import { VideoFileError } from './video-file-error.ts';

/** Far more than manifests with thumbnails have. */
const maxManifestBytes = 16 * 1024 * 1024;

/**
 * Puts the C2PA manifest of one video into a conversion of it, behind `ftyp`, where manifests usually are. The signature of the manifest
 * stays valid; its hash of the video's bytes does not, which validators report.
 */
export async function carryManifest(fromPath: string, { at, to }: Box, path: string): Promise<void> {
  if (to - at > maxManifestBytes) throw new VideoFileError(`the manifest has more than ${maxManifestBytes} bytes`);
  await using source = await open(fromPath);
  const manifest = await readAt({ handle: source }, at, to - at);
  const carriedPath = `${path}.carried`;
  await pipeline(withManifest(path, manifest), createWriteStream(carriedPath, { flags: 'wx' }));
  await rename(carriedPath, path);
}

async function* withManifest(path: string, manifest: Buffer): AsyncGenerator<Buffer> {
  await using handle = await open(path);
  const file = await toBoxFile(handle);
  for await (const box of boxesIn(file, { from: 0, to: file.bytes })) {
    if (box.type === 'moov') yield await movedIndex(file, box, manifest.length);
    else yield* createReadStream(path, { start: box.at, end: box.to - 1 }) as AsyncIterable<Buffer>; // without an encoding
    if (box.type === 'ftyp') yield manifest;
  }
}

const offsetBytes: Readonly<Record<string, 4 | 8>> = { stco: 4, co64: 8 };
const parents = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

/** Returns the index (`moov`) of a video whose data is moved by `byBytes`. */
async function movedIndex(file: BoxFile, { at, to }: Box, byBytes: number): Promise<Buffer> {
  if (to - at > maxIndexBytes) throw new VideoFileError(`the index has more than ${maxIndexBytes} bytes`);
  const index = await readAt(file, at, to - at);
  const move = (from: number, end: number) => {
    for (const box of boxesInMemory(index, { from, to: end })) {
      if (parents.includes(box.type)) move(box.from, box.to);
      const bytes = offsetBytes[box.type];
      if (bytes !== undefined) shiftOffsets(index.subarray(box.from, box.to), bytes, byBytes);
    }
  };
  move(0, index.length);
  return index;
}

/** Behind version and flags are the number of offsets and the offsets. */
function shiftOffsets(list: Buffer, bytes: 4 | 8, byBytes: number): void {
  const count = list.readUInt32BE(4);
  for (let index = 0; index < count; index += 1) {
    const at = 8 + index * bytes;
    if (bytes === 4) list.writeUInt32BE(list.readUInt32BE(at) + byBytes, at);
    else list.writeBigUInt64BE(list.readBigUInt64BE(at) + BigInt(byBytes), at);
  }
}
