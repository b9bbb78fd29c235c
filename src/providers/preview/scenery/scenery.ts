import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FrameSize } from '../../../domain/frame-size.ts';
import { canvasBytes, createCanvas, vignetteOf, type Canvas } from './canvas.ts';
import { choosePalette, type Palette } from './palette.ts';
import { choose, createRandom, type Random } from '../random.ts';
import { auroraScene } from './scene-aurora.ts';
import { dunesScene } from './scene-dunes.ts';
import { orbsScene } from './scene-orbs.ts';

/** Paints the whole canvas as it looks at a moment of the film. */
export type Painter = (canvas: Canvas, seconds: number) => void;

/** Moving light for a film without pictures: small frames, `yuv444p10le`, one after the other. */
export type Scenery = FrameSize & { readonly frames: AsyncIterable<Uint8Array> };

export type SceneryRequest = {
  readonly seed: string;
  readonly frame: FrameSize;
  readonly filmFrames: number;
  readonly framesPerSecond: number;
};

type Scene = {
  readonly create: (random: Random, palette: Palette) => Painter;
  /** How many pixels of the film one pixel of the scene covers in each direction. */
  readonly reduction: number;
};

/** Lights have no edges, so a tenth of the size is enough for them; the other scenes need more. */
const scenes: readonly [Scene, ...Scene[]] = [
  { create: auroraScene, reduction: 10 },
  { create: dunesScene, reduction: 4 },
  { create: orbsScene, reduction: 5 },
];

export function scenery(request: SceneryRequest): Scenery {
  const random = createRandom(request.seed, 'scenery');
  const palette = choosePalette(random);
  const scene = choose(random, scenes);
  const widthPx = Math.round(request.frame.widthPx / scene.reduction);
  const heightPx = Math.round(request.frame.heightPx / scene.reduction);
  const frames = paintFrames(scene.create(random, palette), createCanvas(widthPx, heightPx), request);
  return { widthPx, heightPx, frames };
}

/** A frame takes about a millisecond; between two the process may do something else. */
async function* paintFrames(painter: Painter, canvas: Canvas, request: SceneryRequest): AsyncGenerator<Uint8Array> {
  const vignette = vignetteOf(canvas.widthPx, canvas.heightPx);
  for (let i = 0; i < request.filmFrames; i++) {
    painter(canvas, i / request.framesPerSecond);
    yield canvasBytes(canvas, vignette);
    await nextTurn();
  }
}
