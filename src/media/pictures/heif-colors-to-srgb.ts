import { crc32, deflateSync } from 'node:zlib';
import { sdrColorTable, type WideColors, wideColorsOf } from '../ffmpeg/hdr.ts';
import { sharp } from './restricted-sharp.ts';
import { type Box, boxesInMemory } from '../video/mp4-boxes.ts';

/** The colors of a HEIC or AVIF. Phones write Display P3 as an ICC profile, cameras PQ or HLG as numbers. */
export type HeifColors = { readonly profile?: Buffer; readonly wide?: WideColors | undefined };

/** Their numbers in ITU-T H.273. */
const transfers: Readonly<Record<number, string>> = { 16: 'pq', 18: 'hlg' };
const primaries: Readonly<Record<number, string>> = { 1: 'bt709', 9: 'bt2020', 12: 'smpte432' };

/** Reads the properties of the file, of which all pictures of a photo have the same colors. */
export function heifColorsOf(bytes: Buffer): HeifColors {
  const inside = (box: Box | undefined, type: string, skipped = 0): Box | undefined =>
    box && [...boxesInMemory(bytes, { from: box.from + skipped, to: box.to })].find((one) => one.type === type);
  try {
    const file = { type: '', at: 0, from: 0, to: bytes.length };
    // The version and flags of `meta` precede its boxes.
    const properties = inside(inside(inside(file, 'meta'), 'iprp', 4), 'ipco');
    const all = properties === undefined ? [] : [...boxesInMemory(bytes, properties)];
    const colors = all.filter(({ type }) => type === 'colr').map(({ from, to }) => bytes.subarray(from, to));
    const kindOf = (color: Buffer) => color.toString('latin1', 0, 4);
    const profile = colors.find((color) => ['prof', 'rICC'].includes(kindOf(color)))?.subarray(4);
    if (profile !== undefined) return { profile };
    const [tags] = colors.filter((color) => kindOf(color) === 'nclx');
    if (tags === undefined) return {};
    const [gamut, transfer] = [tags.readUInt16BE(4), tags.readUInt16BE(6)];
    return { wide: wideColorsOf({ transfer: transfers[transfer], primaries: primaries[gamut], matrix: 'any' }) };
  } catch {
    // The decoder judges the file; sRGB is assumed.
    return {};
  }
}

const sidePoints = 64;

type Pixels = { readonly data: Uint8Array; readonly channels: 3 | 4 };

/** Converts pixels to sRGB where they are, because a copy of a photo could take 100 MB. */
export async function convertToSrgb(pixels: Pixels, { profile, wide }: HeifColors): Promise<void> {
  const table = profile === undefined ? wide && sdrColorTable(wide, sidePoints) : await profileColors(profile);
  if (table !== undefined) interpolate(pixels, table);
}

/** Returns a table of what the profile means, by converting an image with every point. */
async function profileColors(profile: Buffer): Promise<Float32Array> {
  const step = 255 / (sidePoints - 1);
  const points = Buffer.from(
    Array.from({ length: sidePoints ** 3 }, (_, index) =>
      [index % sidePoints, Math.floor(index / sidePoints) % sidePoints, Math.floor(index / sidePoints ** 2)].map(
        (point) => Math.round(point * step),
      ),
    ).flat(),
  );
  const raw = { width: sidePoints, height: sidePoints ** 2, channels: 3 } as const;
  const png = await sharp(points, { raw }).png({ compressionLevel: 0 }).toBuffer();
  const converted = await sharp(withProfile(png, profile)).toColourspace('srgb').removeAlpha().raw().toBuffer();
  return Float32Array.from(converted, (value) => value / 255);
}

const beforeChunks = 33;

/** sharp takes no profile for raw pixels, so a PNG gets a chunk `iCCP` after its header. */
function withProfile(png: Buffer, profile: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from('iCCPphoto\0\0', 'latin1'), deflateSync(profile)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length - 4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([png.subarray(0, beforeChunks), length, content, sum, png.subarray(beforeChunks)]);
}

/** The point of the table below each code, and the way from there to the next one. */
const positions = Float64Array.from({ length: 256 }, (_, code) => (code / 255) * (sidePoints - 1));
const lowers = Uint8Array.from(positions, (position) => Math.min(sidePoints - 2, Math.floor(position)));
const fractions = Float64Array.from(positions, (position, code) => position - (lowers[code] ?? 0));

/** Replaces each color by the mean of the eight points around it, weighted by their nearness. */
function interpolate({ data, channels }: Pixels, table: Float32Array): void {
  const [green, blue] = [3 * sidePoints, 3 * sidePoints ** 2];
  for (let at = 0; at + 2 < data.length; at += channels) {
    const [r = 0, g = 0, b = 0] = [data[at], data[at + 1], data[at + 2]];
    const from = 3 * (lowers[r] ?? 0) + green * (lowers[g] ?? 0) + blue * (lowers[b] ?? 0);
    const [x = 0, y = 0, z = 0] = [fractions[r], fractions[g], fractions[b]];
    for (let channel = 0; channel < 3; channel += 1) {
      const row = (start: number) => {
        const first = table[start] ?? 0;
        return first + ((table[start + 3] ?? 0) - first) * x;
      };
      const plane = (start: number) => {
        const first = row(start);
        return first + (row(start + green) - first) * y;
      };
      const first = plane(from + channel);
      data[at + channel] = Math.round((first + (plane(from + channel + blue) - first) * z) * 255);
    }
  }
}
