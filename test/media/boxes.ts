// Boxes of MP4 files, made and read by hand, so that tests do not depend on the code that they judge.

export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(8, type.padStart(8), 'latin1');
  header.writeUInt32BE(8 + body.length);
  return Buffer.concat([header, body]);
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
