import { ImageRefusedError } from './image-refused-error.ts';

const reducedImage = 254;
const dngVersion = 50_706;
const maxTags = 512;

/**
 * Refuses the raw photos of cameras (DNG, NEF, ARW), which begin as a TIFF with a preview of some hundred pixels. Reads the list of tags
 * of the first image only.
 */
export function refuseRawPhoto(bytes: Buffer): void {
  const isLittle = bytes[0] === 0x49;
  const short = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  // A BigTIFF, which no camera writes, has another list.
  if (bytes.length < 8 || short(2) !== 42) return;
  const list = long(4);
  const end = bytes.length - 12;
  for (
    let tag = 0, at = list + 2;
    list + 2 <= bytes.length && tag < Math.min(short(list), maxTags) && at <= end;
    tag += 1, at += 12
  ) {
    const isPreview = short(at) === reducedImage && (long(at + 8) & 1) === 1;
    if (isPreview || short(at) === dngVersion) throw new ImageRefusedError('is a raw photo', { reason: 'format' });
  }
}
