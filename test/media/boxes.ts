// Boxes of MP4 files, made and read by hand, so that tests do not depend on the code that they judge.

export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(8, type.padStart(8), 'latin1');
  header.writeUInt32BE(8 + body.length);
  return Buffer.concat([header, body]);
}

const numbers = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
  return bytes;
};

/** A list of an index, behind its version and flags. */
const list = (type: string, ...values: readonly number[]) => box(type, numbers(0, ...values));

/** An MP4 of 64 × 48 pixels whose index has this many pictures of five bytes, of which the first alone is in the file. */
export function videoOfPictures(pictures: number): Buffer {
  const start = box('ftyp', Buffer.from('isom\0\0\x02\0isomavc1'));
  const data = box('mdat', numbers(1), Buffer.from([0x65]));
  const decoder = box('avcC', Buffer.from([1, 0x42, 0xc0, 0x1e, 0xff, 0xe0, 0]));
  const entry = Buffer.alloc(78);
  entry.writeUInt16BE(1, 6);
  entry.writeUInt16BE(64, 24);
  entry.writeUInt16BE(48, 26);
  const table = box(
    'stbl',
    box('stsd', numbers(0, 1), box('avc1', entry, decoder)),
    list('stts', 1, pictures, 1),
    // With a shift of their times, the reader makes a list of all pictures.
    list('ctts', 1, pictures, 0),
    list('stsz', 5, pictures),
    list('stsc', 1, 1, pictures, 1),
    list('stco', 1, start.length + 8),
  );
  const references = box('dinf', box('dref', numbers(0, 1), box('url ', numbers(1))));
  const media = box(
    'mdia',
    list('mdhd', 0, 0, 24, 24, 0x55_c4_00_00),
    box('hdlr', numbers(0, 0), Buffer.from('vide'), Buffer.alloc(13)),
    box('minf', box('vmhd', numbers(1, 0, 0)), references, table),
  );
  const matrix = numbers(0x1_00_00, 0, 0, 0, 0x1_00_00, 0, 0, 0, 0x40_00_00_00);
  const size = numbers(64 * 0x1_00_00, 48 * 0x1_00_00);
  const header = box('tkhd', numbers(3, 0, 0, 1, 0, 1, 0, 0, 0, 0), matrix, size);
  const film = box('mvhd', numbers(0, 0, 0, 24, 24, 0x1_00_00, 0, 0, 0), matrix, Buffer.alloc(28));
  return Buffer.concat([start, data, box('moov', film, box('trak', header, media))]);
}

const manifestHead = Buffer.from('d8fec3d61b0e483c92975828877ec48100000000', 'hex');

/** A box with the type and purpose of a C2PA manifest, and no valid manifest in it. */
export function manifestBox(content = 'a manifest'): Buffer {
  return box('uuid', manifestHead, Buffer.from('manifest\0'), Buffer.alloc(8), Buffer.from(content));
}

export function xmpBox(content: string): Buffer {
  return box('uuid', Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex'), Buffer.from(content));
}

/** The top-level boxes, each whole. */
export function boxesOf(file: Buffer): readonly { readonly type: string; readonly bytes: Buffer }[] {
  const boxes = [];
  for (let at = 0; at < file.length;) {
    const size = file.readUInt32BE(at) || file.length - at;
    boxes.push({ type: file.toString('latin1', at + 4, at + 8), bytes: file.subarray(at, at + size) });
    at += size;
  }
  return boxes;
}

export const typesOf = (file: Buffer) => boxesOf(file).map(({ type }) => type);

/** Puts a box behind `ftyp` without correcting the offsets of the data, as for a file whose data precedes its index. */
export function insertedBehindStart(file: Buffer, inserted: Buffer): Buffer {
  const [start] = boxesOf(file);
  const length = start?.bytes.length ?? 0;
  return Buffer.concat([file.subarray(0, length), inserted, file.subarray(length)]);
}

/** Returns the content of the XMP box of a file; undefined without one. */
export function xmpIn(file: Buffer): string | undefined {
  const found = boxesOf(file).find(({ type, bytes }) => type === 'uuid' && bytes.toString('hex', 8, 12) === 'be7acfcb');
  return found?.bytes.toString('utf8', 24);
}
