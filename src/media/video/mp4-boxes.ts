import type { FileHandle } from 'node:fs/promises';

// The boxes of an MP4 or QuickTime file. Only headers are read, so that a hostile file costs neither memory nor time.

/** A box does not fit into its parent, or there are too many. */
export class BoxError extends Error {
  override readonly name = 'BoxError';
}

/** `boxesRead`: those of all levels, because every box of a file could have as many within it. */
export type BoxFile = { readonly handle: FileHandle; readonly bytes: number; boxesRead: number };

export async function toBoxFile(handle: FileHandle): Promise<BoxFile> {
  return { handle, bytes: (await handle.stat()).size, boxesRead: 0 };
}

/** `at`: where its header begins; `from` and `to`: its content. */
export type Box = { readonly type: string; readonly at: number; readonly from: number; readonly to: number };

/** A fragmented file of ten minutes has about a thousand boxes. */
const maxBoxes = 10_000;

/** A larger index (`moov`) describes no video within our limits, and would fill the memory of its reader. */
export const maxIndexBytes = 64 * 1024 * 1024;

export async function readAt({ handle }: Pick<BoxFile, 'handle'>, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, at);
  return buffer.subarray(0, bytesRead);
}

/** Yields the boxes between two offsets. Throws `BoxError` for a box that does not fit in, and for too many in all of the file. */
export async function* boxesIn(file: BoxFile, { from, to }: Pick<Box, 'from' | 'to'>): AsyncGenerator<Box> {
  let at = from;
  // QuickTime may end a list with a zero of 32 bits.
  for (; at + 8 <= to; file.boxesRead += 1) {
    if (file.boxesRead >= maxBoxes) throw new BoxError('too many boxes');
    const found = boxAt(await readAt(file, at, 16), at, to);
    yield found;
    at = found.to;
  }
}

/** Yields the boxes between two offsets of `bytes`, from whose beginning `at`, `from` and `to` count. */
export function* boxesInMemory(bytes: Buffer, { from, to }: Pick<Box, 'from' | 'to'>): Generator<Box> {
  for (let at = from; at + 8 <= to;) {
    const found = boxAt(bytes.subarray(at, at + 16), at, to);
    yield found;
    at = found.to;
  }
}

function boxAt(header: Buffer, at: number, limit: number): Box {
  const size = header.length < 8 ? 1 : header.readUInt32BE(0);
  // One stands for a size of 64 bits behind the type, and zero for the rest of the file.
  const isLong = size === 1;
  if (isLong && header.length < 16) throw new BoxError('a header is cut off');
  const bytes = isLong ? Number(header.readBigUInt64BE(8)) : size === 0 ? limit - at : size;
  const headerBytes = isLong ? 16 : 8;
  if (bytes < headerBytes || at + bytes > limit) throw new BoxError('a box is cut off');
  return { type: header.toString('latin1', 4, 8), at, from: at + headerBytes, to: at + bytes };
}
