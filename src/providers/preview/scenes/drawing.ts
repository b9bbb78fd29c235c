import sharp from 'sharp';
import type { FrameSize } from '../../../catalogue/media/frame-size.ts';
import type { Layer } from '../layers-filter-graph.ts';
import { choose, type Random } from '../film-random.ts';

/** Colors as `#rrggbb`, from the darkest to the lightest. White titles are readable on all but `glow`. */
export type Palette = Readonly<Record<'deep' | 'low' | 'mid' | 'high' | 'glow', string>>;

/** One layer as SVG, and its movement. The SVG is made of our own numbers and colors; it never contains text of a request. */
export type LayerDrawing = FrameSize & { readonly body: string; readonly x: string; readonly y: string };

/** Chosen by eye: neighboring hues with one warm or cool opposite, dark enough for white letters. */
const palettes: readonly [string, ...string[]] = [
  '#0b1026 #2a1b5e #7b2d8b #e0567a #ffc08a',
  '#04141f #0b3a4a #14706f #4fb286 #f2e29b',
  '#0a0f24 #16306b #2563b8 #4fa3d9 #ffd9b8',
  '#170a1c #4a1942 #9c2f52 #e06a4e #ffcf7d',
  '#0d0b21 #2b2a6e #5a4fcf #9d7be0 #f7c6e3',
  '#1a0f0a #5a2a18 #a4502a #e08f46 #ffe3b0',
  '#071a26 #12485c #2a8a9d #e28a6f #ffdcc2',
];

export function choosePalette(random: Random): Palette {
  const [deep = '', low = '', mid = '', high = '', glow = ''] = choose(random, palettes).split(' ');
  return { deep, low, mid, high, glow };
}

/** Returns the color at a position from 0 to 1 of a scale of colors. */
export function colorOnScale(position: number, ...colors: readonly string[]): string {
  const at = Math.min(0.9999, Math.max(0, position)) * (colors.length - 1);
  const channel = (index: number, digit: number) => Number.parseInt((colors[index] ?? '').slice(digit, digit + 2), 16);
  const mixed = [1, 3, 5].map((digit) => {
    const [from, to] = [channel(Math.floor(at), digit), channel(Math.ceil(at), digit)];
    return Math.round(from + (to - from) * (at % 1));
  });
  return `#${mixed.map((one) => one.toString(16).padStart(2, '0')).join('')}`;
}

/** A gradient, downward or outward, to be used as `url(#id)`. A stop is `position color`, and an opacity where it is not 1. */
export function svgGradient(kind: 'linear' | 'radial', id: string, ...stops: readonly string[]): string {
  const inner = stops.map((stop) => {
    const [position, color, opacity = 1] = stop.split(' ');
    return `<stop offset="${position}" stop-color="${color}" stop-opacity="${opacity}"/>`;
  });
  return `<${kind}Gradient id="${id}" ${kind === 'linear' ? 'x2="0" y2="1"' : ''}>${inner.join('')}</${kind}Gradient>`;
}

export function svgEllipse(x: number, y: number, radiusX: number, radiusY: number, fill: string): string {
  return `<ellipse cx="${x}" cy="${y}" rx="${radiusX}" ry="${radiusY}" fill="${fill}"/>`;
}

export function svgRectangle(
  x: number,
  y: number,
  widthPx: number,
  heightPx: number,
  fill: string,
  radius = 0,
): string {
  return `<rect x="${x}" y="${y}" width="${widthPx}" height="${heightPx}" rx="${radius}" fill="${fill}"/>`;
}

export async function renderDrawing({ widthPx, heightPx, body, x, y }: LayerDrawing): Promise<Layer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${heightPx}">${body}</svg>`;
  return { widthPx, heightPx, rgba: await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer(), x, y };
}
