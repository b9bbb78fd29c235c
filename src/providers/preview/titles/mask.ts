import type { Segment } from './glyph-outline.ts';

/** Coverage of each pixel, 0 to 1, row by row. */
export type Mask = { readonly widthPx: number; readonly heightPx: number; readonly coverage: Float32Array };

/**
 * Fills outlines exactly antialiased: every segment adds the signed area it covers to the pixels right of it, and one
 * running sum along each row turns that into coverage (the method of font-rs). Segments are in pixels, y downwards;
 * parts outside the mask must be left out by the caller.
 */
export function fillMask(widthPx: number, heightPx: number, segments: Iterable<Segment>): Mask {
  // One more column takes what falls on the right edge.
  const stride = widthPx + 2;
  const area = new Float32Array(stride * heightPx);
  for (const segment of segments) addSegment(area, stride, heightPx, segment);
  const coverage = new Float32Array(widthPx * heightPx);
  for (let y = 0; y < heightPx; y++) {
    let sum = 0;
    for (let x = 0; x < widthPx; x++) {
      sum += area[y * stride + x] ?? 0;
      coverage[y * widthPx + x] = Math.min(1, Math.abs(sum));
    }
  }
  return { widthPx, heightPx, coverage };
}

function addSegment(area: Float32Array, stride: number, heightPx: number, [a, b]: Segment): void {
  if (a.y === b.y) return;
  const [upper, lower] = a.y < b.y ? [a, b] : [b, a];
  const direction = a.y < b.y ? 1 : -1;
  const slope = (lower.x - upper.x) / (lower.y - upper.y);
  const lastRow = Math.min(heightPx - 1, Math.ceil(lower.y) - 1);
  for (let y = Math.max(0, Math.floor(upper.y)); y <= lastRow; y++) {
    const top = Math.max(y, upper.y);
    const bottom = Math.min(y + 1, lower.y);
    const x0 = upper.x + (top - upper.y) * slope;
    const x1 = upper.x + (bottom - upper.y) * slope;
    addRow(area, y * stride, stride, direction * (bottom - top), Math.min(x0, x1), Math.max(x0, x1));
  }
}

/** Spreads one row's share over the columns the segment crosses, in proportion to the area right of it. */
function addRow(area: Float32Array, row: number, stride: number, height: number, left: number, right: number): void {
  const first = Math.max(0, Math.floor(left));
  const last = Math.min(stride - 2, Math.floor(right));
  let done = 0;
  for (let x = first; x <= last; x++) {
    const covered = height * shareLeftOf(x + 1, left, right);
    add(area, row + x, covered - done);
    done = covered;
  }
  add(area, row + last + 1, height - done);
}

/** How much of the pixel that ends at `x` lies right of an edge from `left` to `right`, averaged over its height. */
function shareLeftOf(x: number, left: number, right: number): number {
  if (right - left < 1e-6) return Math.min(1, Math.max(0, x - left));
  const integral = (to: number) => (Math.min(right, Math.max(left, to)) - left) ** 2 / (2 * (right - left));
  const full = (to: number) => integral(to) + Math.max(0, to - right);
  return Math.min(1, full(x) - full(x - 1));
}

function add(area: Float32Array, index: number, amount: number): void {
  area[index] = (area[index] ?? 0) + amount;
}
