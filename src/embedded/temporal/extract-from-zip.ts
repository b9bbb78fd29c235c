import { createWriteStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { PassThrough, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

/** Beyond any file we extract; a header that claims more is broken or hostile. */
const maxFileBytes = 1024 * 1024 * 1024;
const maxDirectoryBytes = 16 * 1024 * 1024;
/** The end record (22 bytes) is followed by a comment of 65,535 bytes at most. */
const maxEndBytes = 22 + 65_535;

type Entry = {
  readonly name: string;
  readonly method: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly headerAt: number;
};

/**
 * Writes the first file of a ZIP archive whose name is wanted to `target`. Reads the central directory (APPNOTE 4.3), stored
 * and deflated entries; no ZIP64, no encryption. Throws when there is no such file or its length is not the stated one.
 */
export async function extractFromZip(
  archive: string,
  isWanted: (name: string) => boolean,
  target: string,
): Promise<void> {
  const file = await open(archive, 'r');
  try {
    const entry = (await readDirectory(file)).find(({ name }) => isWanted(name));
    if (entry === undefined) throw new Error(`${archive} does not hold the file looked for`);
    const start = await dataStart(file, entry);
    const packed = file.createReadStream({ start, end: start + entry.packedBytes - 1, autoClose: false });
    const output = createWriteStream(target, { mode: 0o600 });
    await pipeline(packed, unpacker(entry), output);
    if (output.bytesWritten !== entry.bytes) throw new Error(`${entry.name} in ${archive} is not as long as stated`);
  } finally {
    await file.close();
  }
}

async function readDirectory(file: FileHandle): Promise<Entry[]> {
  const { size } = await file.stat();
  const tail = await read(file, Math.max(0, size - maxEndBytes), Math.min(size, maxEndBytes));
  const endAt = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (endAt === -1 || tail.length < endAt + 22) throw new Error('it is no ZIP archive');
  const [count, bytes, at] = [
    tail.readUInt16LE(endAt + 10),
    tail.readUInt32LE(endAt + 12),
    tail.readUInt32LE(endAt + 16),
  ];
  if (bytes > maxDirectoryBytes) throw new Error('the directory of the ZIP archive is too large');
  return entriesOf(await read(file, at, bytes), count);
}

function entriesOf(directory: Buffer, count: number): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count;) {
    const nameBytes = directory.readUInt16LE(at + 28);
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameBytes),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      headerAt: directory.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/** The local header repeats the name and may carry other extra fields than the directory, so its own lengths count. */
async function dataStart(file: FileHandle, { headerAt }: Entry): Promise<number> {
  const header = await read(file, headerAt, 30);
  return headerAt + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
}

function unpacker({ method, bytes, name }: Entry): Transform {
  if (bytes > maxFileBytes) throw new Error(`${name} is too large`);
  if (method === 0) return new PassThrough();
  if (method === 8) return createInflateRaw();
  throw new Error(`${name} is packed in a way this does not read (method ${method})`);
}

async function read(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
  if (bytesRead < bytes) throw new Error('the ZIP archive is cut short');
  return buffer;
}
