import { blurMask } from './blur-mask.ts';
import type { Segment } from './glyph-outline.ts';
import { fillMask, type Mask } from './mask.ts';
import { reduceMask } from './reduce-mask.ts';

/** A picture with transparency: four bytes a pixel (red, green, blue, alpha), row by row. */
export type Layer = { readonly widthPx: number; readonly heightPx: number; readonly rgba: Uint8Array };

export type Ink = {
  /** 0 to 1: how opaque the letters are. */
  readonly strength: number;
  /** 0 to 1: how dark the soft shadow under them is, which keeps them legible on every picture. */
  readonly shadow: number;
  readonly shadowRadiusPx: number;
};

/** A shadow is soft, so a quarter of the size is enough for it. */
const shadowReduction = 4;

/** White letters on a soft black shadow. */
export function textLayer(widthPx: number, heightPx: number, segments: readonly Segment[], ink: Ink): Layer {
  const letters = fillMask(widthPx, heightPx, segments);
  const shadow = shadowOf(letters, ink);
  const rgba = new Uint8Array(4 * widthPx * heightPx);
  for (let y = 0; y < heightPx; y++) {
    for (let x = 0; x < widthPx; x++) {
      const i = y * widthPx + x;
      const white = (letters.coverage[i] ?? 0) * ink.strength;
      const black = sampled(shadow, x / shadowReduction, y / shadowReduction);
      const alpha = white + black * (1 - white);
      // White over black, as one grey with one alpha.
      rgba.fill(alpha > 0 ? Math.round((255 * white) / alpha) : 0, 4 * i, 4 * i + 3);
      rgba[4 * i + 3] = Math.round(255 * alpha);
    }
  }
  return { widthPx, heightPx, rgba };
}

/** A dark edge close to the letters and a wide dim one. The wide one is thin by nature, so it is strengthened. */
function shadowOf(letters: Mask, ink: Ink): Mask {
  const small = reduceMask(letters, shadowReduction);
  const radius = ink.shadowRadiusPx / shadowReduction;
  const near = blurMask(small, Math.max(1, Math.round(radius / 6)));
  const wide = blurMask(small, Math.max(1, Math.round(radius)));
  const coverage = near.coverage.map((close, i) => {
    return ink.shadow * Math.min(1, 0.45 * close + 1.3 * (wide.coverage[i] ?? 0));
  });
  return { ...small, coverage };
}

/** Between the four nearest samples, so that the enlarged shadow has no steps. */
function sampled({ coverage, widthPx }: Mask, x: number, y: number): number {
  const [column, row] = [Math.trunc(x), Math.trunc(y)];
  const [right, down] = [x - column, y - row];
  const i = row * widthPx + column;
  const upper = (coverage[i] ?? 0) * (1 - right) + (coverage[i + 1] ?? 0) * right;
  const lower = (coverage[i + widthPx] ?? 0) * (1 - right) + (coverage[i + widthPx + 1] ?? 0) * right;
  return upper * (1 - down) + lower * down;
}
