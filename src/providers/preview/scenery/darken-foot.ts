import type { FrameSize } from '../../../domain/frame-size.ts';

/** Where the shade begins, in parts of the height from the top, and how much of the light it leaves at the bottom. */
const from = 0.42;
const leftAtBottom = 0.4;

/** Shades the foot of a picture (`rgb24`, changed in place), where titles stand: white letters need a quiet ground. */
export function darkenFoot(pixels: Buffer, { widthPx, heightPx }: FrameSize): Buffer {
  const firstRow = Math.floor(heightPx * from);
  for (let row = firstRow; row < heightPx; row++) {
    const depth = (row - firstRow) / (heightPx - firstRow);
    const light = 1 - (1 - leftAtBottom) * depth * depth * (3 - 2 * depth);
    const end = (row + 1) * widthPx * 3;
    for (let i = row * widthPx * 3; i < end; i++) pixels[i] = (pixels[i] ?? 0) * light;
  }
  return pixels;
}
