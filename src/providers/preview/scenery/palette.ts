import { choose, type Random } from '../random.ts';

/** Luma 0 to 1 and two colour differences −0.5 to 0.5 (BT.709), as the film stores colours; mixes like RGB does. */
export type Colour = { readonly y: number; readonly u: number; readonly v: number };

/** From the darkest to the light. White titles stand on all but `glow`, which is used sparingly. */
export type Palette = {
  readonly deep: Colour;
  readonly low: Colour;
  readonly mid: Colour;
  readonly high: Colour;
  readonly glow: Colour;
};

type Hex = readonly [deep: string, low: string, mid: string, high: string, glow: string];

/** Chosen by eye: neighbours in hue with one warm or cool opposite, dark enough for white letters. */
const palettes: readonly [Hex, ...Hex[]] = [
  ['0b1026', '2a1b5e', '7b2d8b', 'e0567a', 'ffc08a'],
  ['04141f', '0b3a4a', '14706f', '4fb286', 'f2e29b'],
  ['0a0f24', '16306b', '2563b8', '4fa3d9', 'ffd9b8'],
  ['170a1c', '4a1942', '9c2f52', 'e06a4e', 'ffcf7d'],
  ['0c1412', '1d3b2f', '3c6e47', '93a94d', 'f4e3a1'],
  ['0d0b21', '2b2a6e', '5a4fcf', '9d7be0', 'f7c6e3'],
  ['1a0f0a', '5a2a18', 'a4502a', 'e08f46', 'ffe3b0'],
  ['071a26', '12485c', '2a8a9d', 'e28a6f', 'ffdcc2'],
  ['101018', '2f3146', '5d5f82', 'a58fb0', 'f3d9cf'],
  ['0f0820', '41126b', 'a11d76', 'f0524f', 'ffb95e'],
];

export function choosePalette(random: Random): Palette {
  const [deep, low, mid, high, glow] = choose(random, palettes);
  return { deep: colour(deep), low: colour(low), mid: colour(mid), high: colour(high), glow: colour(glow) };
}

export function mix(from: Colour, to: Colour, share: number): Colour {
  const between = (a: number, b: number) => a + (b - a) * share;
  return { y: between(from.y, to.y), u: between(from.u, to.u), v: between(from.v, to.v) };
}

/** The weights of BT.709, the standard of high-definition video. */
function colour(hex: string): Colour {
  const channel = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  const [red, green, blue] = [channel(0), channel(2), channel(4)];
  const y = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return { y, u: (blue - y) / 1.8556, v: (red - y) / 1.5748 };
}
