import type { Sharp } from 'sharp';
import { cubeColors, type WideColors, wideColorsOf } from './hdr.ts';
import { sharp } from './image-library.ts';
import { type Box, boxesInMemory } from './mp4-boxes.ts';

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

/** Converts the pixels to sRGB, between the points of a table as ffmpeg does. */
export async function toUsualColors(image: Sharp, wide: WideColors): Promise<Sharp> {
  const { data, info } = await image.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const table = cubeColors(wide, sidePoints);
  for (let at = 0; at + 2 < data.length; at += 3) convertPixel(data, at, table);
  const { width, height } = info;
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** The eight points around a color. */
const corners = [0, 1, 2, 3, 4, 5, 6, 7] as const;

function convertPixel(data: Buffer, at: number, table: Float32Array): void {
  const position = (channel: number) => ((data[at + channel] ?? 0) / 255) * (sidePoints - 1);
  const [red, green, blue] = [position(0), position(1), position(2)];
  const lower = (value: number) => Math.min(sidePoints - 2, Math.floor(value));
  const [r, g, b] = [lower(red), lower(green), lower(blue)];
  const [dr, dg, db] = [red - r, green - g, blue - b];
  let [sumR, sumG, sumB] = [0, 0, 0];
  for (const corner of corners) {
    const [x, y, z] = [corner & 1, (corner >> 1) & 1, corner >> 2];
    const weight = (x ? dr : 1 - dr) * (y ? dg : 1 - dg) * (z ? db : 1 - db);
    const from = 3 * (r + x + sidePoints * (g + y + sidePoints * (b + z)));
    sumR += weight * (table[from] ?? 0);
    sumG += weight * (table[from + 1] ?? 0);
    sumB += weight * (table[from + 2] ?? 0);
  }
  data[at] = Math.round(sumR * 255);
  data[at + 1] = Math.round(sumG * 255);
  data[at + 2] = Math.round(sumB * 255);
}
