import type { Mask } from './mask.ts';

/** The mean of each square of pixels; a last, incomplete one counts as if it were complete. */
export function reduceMask(mask: Mask, reduction: number): Mask {
  const widthPx = Math.ceil(mask.widthPx / reduction);
  const heightPx = Math.ceil(mask.heightPx / reduction);
  const coverage = new Float32Array(widthPx * heightPx);
  for (let y = 0; y < mask.heightPx; y++) {
    const row = Math.trunc(y / reduction) * widthPx;
    for (let x = 0; x < mask.widthPx; x++) {
      const i = row + Math.trunc(x / reduction);
      coverage[i] = (coverage[i] ?? 0) + (mask.coverage[y * mask.widthPx + x] ?? 0) / (reduction * reduction);
    }
  }
  return { widthPx, heightPx, coverage };
}
