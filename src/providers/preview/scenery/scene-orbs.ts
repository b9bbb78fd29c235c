import { createCanvas, paint, type Canvas } from './canvas.ts';
import { mix, type Colour, type Palette } from './palette.ts';
import { between, choose, type Random } from '../random.ts';
import type { Painter } from './scenery.ts';

type Orb = {
  readonly light: Colour;
  readonly shade: Colour;
  readonly x: number;
  readonly y: number;
  /** In parts of the shorter side. */
  readonly radius: number;
  readonly softness: number;
  readonly speedX: number;
  readonly speedY: number;
};

/** Spheres of light at different distances; the far ones are out of focus and slow. */
export function orbsScene(random: Random, palette: Palette): Painter {
  const orbs = Array.from({ length: 6 }, (_, i) => orb(random, palette, i / 5));
  const tilt = between(random, -0.6, 0.6);
  let ground: Canvas | undefined;
  return (canvas, seconds) => {
    ground ??= groundOf(canvas, palette, tilt);
    canvas.y.set(ground.y);
    canvas.u.set(ground.u);
    canvas.v.set(ground.v);
    for (const one of orbs) paintOrb(canvas, one, seconds);
  };
}

function orb(random: Random, palette: Palette, nearness: number): Orb {
  const light = choose(random, [palette.high, mix(palette.glow, palette.mid, 0.25), palette.mid, palette.high]);
  return {
    light,
    shade: mix(palette.low, palette.mid, random() * 0.6),
    x: between(random, 0.42, 1.02),
    y: between(random, 0.02, 0.98),
    radius: 0.07 + 0.26 * nearness * between(random, 0.7, 1.15),
    softness: 0.05 + 0.3 * Math.abs(nearness - 0.7),
    speedX: between(random, -0.02, 0.02) * (0.5 + nearness),
    speedY: between(random, 0.012, 0.03) * (0.5 + nearness) * (random() < 0.5 ? -1 : 1),
  };
}

/** The ground does not move, so it is painted once. */
function groundOf({ widthPx, heightPx }: Canvas, palette: Palette, tilt: number): Canvas {
  const ground = createCanvas(widthPx, heightPx);
  const light = mix(palette.low, palette.mid, 0.45);
  for (let row = 0; row < heightPx; row++) {
    for (let column = 0; column < widthPx; column++) {
      const along = 0.15 + 0.6 * (column / widthPx) + tilt * (row / heightPx - 0.5);
      paint(ground, row * widthPx + column, mix(palette.deep, light, Math.max(0, Math.min(1, along))), 1);
    }
  }
  return ground;
}

function paintOrb(canvas: Canvas, one: Orb, seconds: number): void {
  const { widthPx, heightPx } = canvas;
  const radiusPx = one.radius * Math.min(widthPx, heightPx);
  const edgePx = Math.max(1.2, one.softness * radiusPx);
  const centreX = (one.x + one.speedX * seconds) * widthPx;
  const centreY = (one.y + one.speedY * seconds) * heightPx;
  const reach = radiusPx + edgePx;
  const shades = Array.from({ length: 65 }, (_, i) => mix(one.light, one.shade, i / 64));
  for (let row = Math.max(0, Math.ceil(centreY - reach)); row < Math.min(heightPx, centreY + reach); row++) {
    for (let column = Math.max(0, Math.ceil(centreX - reach)); column < Math.min(widthPx, centreX + reach); column++) {
      const [x, y] = [column - centreX, row - centreY];
      const cover = Math.min(1, Math.max(0, (radiusPx + edgePx / 2 - Math.sqrt(x * x + y * y)) / edgePx));
      // Lit from the upper left: the distance from a point near that rim decides the shade.
      const shade = Math.min(1, Math.sqrt((x + 0.45 * radiusPx) ** 2 + (y + 0.5 * radiusPx) ** 2) / (1.65 * radiusPx));
      const smooth = cover * cover * (3 - 2 * cover);
      paint(canvas, row * widthPx + column, shades[Math.round(64 * shade)] ?? one.shade, 0.94 * smooth);
    }
  }
}
