import type { Mask } from './mask.ts';

/** Three box blurs in a row look like a Gaussian one and cost the same at every radius. */
export function blurMask(mask: Mask, radiusPx: number): Mask {
  let coverage = mask.coverage;
  for (let pass = 0; pass < 3; pass++) {
    coverage = boxBlur(coverage, mask.heightPx, mask.widthPx, mask.widthPx, 1, radiusPx);
    coverage = boxBlur(coverage, mask.widthPx, mask.heightPx, 1, mask.widthPx, radiusPx);
  }
  return { ...mask, coverage };
}

/** Averages along lines of `length` samples that lie `step` apart; beyond the ends there is nothing. */
function boxBlur(
  from: Float32Array,
  lines: number,
  length: number,
  lineStep: number,
  step: number,
  radius: number,
): Float32Array {
  const to = new Float32Array(from.length);
  const width = 2 * radius + 1;
  for (let line = 0; line < lines; line++) {
    const start = line * lineStep;
    let sum = 0;
    for (let i = 0; i < Math.min(radius, length); i++) sum += from[start + i * step] ?? 0;
    for (let i = 0; i < length; i++) {
      if (i + radius < length) sum += from[start + (i + radius) * step] ?? 0;
      if (i - radius - 1 >= 0) sum -= from[start + (i - radius - 1) * step] ?? 0;
      to[start + i * step] = sum / width;
    }
  }
  return to;
}
