import { paintMix, type Canvas } from './canvas.ts';
import { mix, type Colour } from './palette.ts';

export type Sky = { readonly top: Colour; readonly horizon: Colour };
/** Place in parts of the width and height, radius in parts of the shorter side. */
export type Sun = { readonly x: number; readonly y: number; readonly radius: number; readonly colour: Colour };

/** A sky that brightens towards the horizon, with a disc of light and its glow; in each column down to row `until`. */
export function paintSky(canvas: Canvas, sky: Sky, sun: Sun, until: readonly number[]): void {
  const { widthPx, heightPx } = canvas;
  const radiusPx = sun.radius * Math.min(widthPx, heightPx);
  const [sunX, sunY] = [sun.x * widthPx, sun.y * heightPx];
  const lowest = Math.max(...until);
  for (let row = 0; row < lowest; row++) {
    const air = mix(sky.top, sky.horizon, Math.min(1, (row / heightPx) * 1.5) ** 1.4);
    for (let column = 0; column < widthPx; column++) {
      if (row >= (until[column] ?? heightPx)) continue;
      const squared = (column - sunX) ** 2 + (row - sunY) ** 2;
      const glow = 0.5 / (1 + squared / (radiusPx * radiusPx * 2.2));
      const disc = squared < (radiusPx + 1) ** 2 ? 0.92 * Math.min(1, radiusPx + 1 - Math.sqrt(squared)) : 0;
      paintMix(canvas, row * widthPx + column, air, sun.colour, glow + (1 - glow) * disc);
    }
  }
}
