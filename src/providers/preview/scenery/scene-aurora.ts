import type { Canvas } from './canvas.ts';
import type { Colour, Palette } from './palette.ts';
import { between, type Random } from '../random.ts';
import type { Painter } from './scenery.ts';

type Light = {
  readonly colour: Colour;
  readonly x: number;
  readonly y: number;
  readonly swayX: number;
  readonly swayY: number;
  readonly turnsPerSecond: number;
  readonly phase: number;
  readonly tightness: number;
};

/** Soft lights that wander and run into each other, on a plane that is gently folded. */
export function auroraScene(random: Random, palette: Palette): Painter {
  const colours = [palette.deep, palette.low, palette.mid, palette.high, palette.deep, palette.low, palette.glow];
  const lights = colours.map((colour) => light(random, colour, colour === palette.glow ? 46 : 9));
  const fold = {
    phase: between(random, 0, 6.3),
    strength: between(random, 0.1, 0.18),
    count: between(random, 2.2, 3.6),
  };
  return (canvas, seconds) => {
    const foldX = folds(canvas.heightPx, fold.count, fold.phase + seconds * 0.5, fold.strength);
    const foldY = folds(canvas.widthPx, fold.count * 1.3, fold.phase - seconds * 0.4, fold.strength);
    paintLights(
      canvas,
      lights.map((one) => moved(one, seconds)),
      foldX,
      foldY,
    );
  };
}

function light(random: Random, colour: Colour, tightness: number): Light {
  return {
    colour,
    x: between(random, 0.05, 0.95),
    y: between(random, 0.05, 0.95),
    swayX: between(random, 0.12, 0.3),
    swayY: between(random, 0.1, 0.25),
    turnsPerSecond: between(random, 0.05, 0.09) * (random() < 0.5 ? -1 : 1),
    phase: between(random, 0, 2 * Math.PI),
    tightness,
  };
}

function moved(one: Light, seconds: number): Light {
  const angle = one.phase + 2 * Math.PI * one.turnsPerSecond * seconds;
  return { ...one, x: one.x + one.swayX * Math.cos(angle), y: one.y + one.swayY * Math.sin(angle * 1.3) };
}

function folds(length: number, count: number, phase: number, strength: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => strength * Math.sin((count * 2 * i) / length + phase));
}

/** Each pixel is the mean of the lights, weighted by nearness. */
function paintLights(canvas: Canvas, lights: readonly Light[], foldX: Float32Array, foldY: Float32Array): void {
  const { widthPx, heightPx } = canvas;
  for (let row = 0; row < heightPx; row++) {
    for (let column = 0; column < widthPx; column++) {
      const x = column / widthPx + (foldX[row] ?? 0);
      const y = row / heightPx + (foldY[column] ?? 0);
      let [sum, sumY, sumU, sumV] = [0, 0, 0, 0];
      for (const { colour, x: lightX, y: lightY, tightness } of lights) {
        const near = 1 / (1 + tightness * ((x - lightX) ** 2 + (y - lightY) ** 2));
        const weight = near * near * near;
        sum += weight;
        sumY += weight * colour.y;
        sumU += weight * colour.u;
        sumV += weight * colour.v;
      }
      const i = row * widthPx + column;
      canvas.y[i] = sumY / sum;
      canvas.u[i] = sumU / sum;
      canvas.v[i] = sumV / sum;
    }
  }
}
