import { paint, type Canvas } from './canvas.ts';
import { mix, type Colour, type Palette } from './palette.ts';
import { between, type Random } from '../random.ts';
import type { Painter } from './scenery.ts';
import { paintSky } from './sky.ts';

type Ridge = {
  readonly crest: Colour;
  readonly foot: Colour;
  /** Mean height of the crest, in parts of the picture from the top. */
  readonly level: number;
  readonly waves: readonly { readonly height: number; readonly count: number; readonly phase: number }[];
  /** Widths of the picture per second; near ridges pass faster. */
  readonly speed: number;
};

const ridgeCount = 5;

/** Ridges one behind the other, passing at different speeds under a rising light. */
export function dunesScene(random: Random, palette: Palette): Painter {
  const direction = random() < 0.5 ? -1 : 1;
  const ridges = Array.from({ length: ridgeCount }, (_, i) => ridge(random, palette, i, direction));
  const sun = { x: between(random, 0.66, 0.84), y: between(random, 0.24, 0.36), radius: between(random, 0.09, 0.13) };
  return (canvas, seconds) => {
    const crests = ridges.map((one) => crestsPx(canvas, one, seconds));
    const light = { ...sun, y: sun.y - 0.008 * seconds, colour: palette.glow };
    paintSky(canvas, { top: palette.low, horizon: palette.high }, light, highest(crests, canvas));
    ridges.forEach((one, i) => paintRidge(canvas, one, crests[i] ?? [], highest(crests.slice(i + 1), canvas)));
  };
}

/** For each column the row at which the highest of the ridges begins: what lies behind it need not be painted. */
function highest(crests: readonly (readonly number[])[], { widthPx, heightPx }: Canvas): number[] {
  return Array.from({ length: widthPx }, (_, x) => {
    return Math.ceil(crests.reduce((top, rows) => Math.min(top, (rows[x] ?? heightPx) + 1), heightPx));
  });
}

function ridge(random: Random, palette: Palette, index: number, direction: number): Ridge {
  const nearness = index / (ridgeCount - 1);
  const haze = mix(palette.high, palette.mid, 0.6);
  const wave = (height: number, count: number) => ({
    height: height * between(random, 0.7, 1.2) * (0.7 + 0.6 * nearness),
    count: count * between(random, 0.8, 1.25),
    phase: between(random, 0, 2 * Math.PI),
  });
  return {
    crest: nearness < 0.5 ? mix(haze, palette.low, 2 * nearness) : mix(palette.low, palette.deep, 2 * nearness - 1),
    foot: mix(mix(haze, palette.low, 0.45), palette.deep, nearness),
    level: 0.5 + 0.4 * nearness,
    waves: [wave(0.05, 4.2), wave(0.022, 9.5), wave(0.006, 23)],
    speed: direction * (0.012 + 0.05 * nearness * nearness),
  };
}

/** The row of the crest in each column. Measured in heights: a wide picture shows more of a ridge, none stretched. */
function crestsPx({ widthPx, heightPx }: Canvas, one: Ridge, seconds: number): number[] {
  return Array.from({ length: widthPx }, (_, column) => {
    const x = column / heightPx + one.speed * seconds * 1.6;
    const sway = one.waves.reduce((sum, { height, count, phase }) => sum + height * Math.sin(count * x + phase), 0);
    return (one.level + sway) * heightPx;
  });
}

function paintRidge(canvas: Canvas, one: Ridge, crests: readonly number[], until: readonly number[]): void {
  const { widthPx, heightPx } = canvas;
  const depths = Array.from({ length: 33 }, (_, i) => mix(one.crest, one.foot, i / 32));
  for (let column = 0; column < widthPx; column++) {
    const crestPx = crests[column] ?? heightPx;
    for (let row = Math.max(0, Math.floor(crestPx)); row < (until[column] ?? heightPx); row++) {
      const depth = Math.max(0, Math.min(32, Math.floor((32 * (row - crestPx)) / (0.3 * heightPx))));
      paint(canvas, row * widthPx + column, depths[depth] ?? one.foot, Math.min(1, row + 1 - crestPx));
    }
  }
}
