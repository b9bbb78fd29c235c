import type { FrameSize } from '../../../catalogue/media/frame-size.ts';
import { between, choose, type Random } from '../film-random.ts';
import { svgEllipse, svgGradient, colorOnScale, svgRectangle, type LayerDrawing, type Palette } from './drawing.ts';

// The light is high and at the right, and the foot is dark and plain, because the titles are there.

export type SceneRequest = {
  readonly frame: FrameSize;
  readonly filmFrames: number;
  readonly random: Random;
  readonly palette: Palette;
};

/** Returns a scene from its background, which is opaque and as large as the frame, to its nearest layer. */
export function randomSceneDrawings(request: SceneRequest): readonly LayerDrawing[] {
  const layers = choose(request.random, [hills, waves]);
  return [sky(request), sun(request), ...layers(request)];
}

function hills(request: SceneRequest): readonly LayerDrawing[] {
  const { deep, low, mid, high } = request.palette;
  const direction = choose(request.random, [1, -1]);
  return [1, 2, 3, 5].map((pxPerFrame, i) => {
    const colors = [
      colorOnScale(i / 3, colorOnScale(0.6, high, mid), low, deep),
      colorOnScale(i / 3, low, deep, deep),
    ] as const;
    return strip(request, direction * pxPerFrame, {
      top: 0.4 + 0.1 * i,
      height: 0.04 + 0.012 * i,
      count: 0.67,
      colors,
    });
  });
}

function waves(request: SceneRequest): readonly LayerDrawing[] {
  const { deep, low, mid, high, glow } = request.palette;
  return [1, -1, 2, -2, 3, -4].map((pxPerFrame, i) => {
    const color = colorOnScale(0.15 + 0.16 * i, colorOnScale(0.35, high, glow), mid, low, deep);
    const colors = [colorOnScale(0.2 - 0.04 * i, color, glow), colorOnScale(0.5, color, deep)] as const;
    const shape = { top: 0.43 + 0.08 * i, height: 0.006 + 0.0045 * i, count: 2.6 - 0.32 * i, colors };
    const wave = strip(request, pxPerFrame, shape);
    return { ...wave, y: `${wave.y}+${3 + 1.6 * i}*sin(n/${14 + 3 * i}+${i})` };
  });
}

/** Strips that go up and down are this much taller than the frame. */
const sparePx = 24;

type Shape = {
  /** All three in parts of the frame's height: the upper edge, the height of its waves, and their number. */
  readonly top: number;
  readonly height: number;
  readonly count: number;
  /** At its edge and at its foot. */
  readonly colors: readonly [string, string];
};

/**
 * A strip with a wavy upper edge that passes by, to the left when its speed is positive. It moves by whole pixels a frame, because
 * a part of one would be seen as a stutter.
 */
function strip(request: SceneRequest, pxPerFrame: number, { top, height, count, colors }: Shape): LayerDrawing {
  const { frame, filmFrames, random } = request;
  const [pastPx, topPx] = [Math.abs(pxPerFrame) * filmFrames, Math.round(top * frame.heightPx)];
  const [widthPx, heightPx] = [frame.widthPx + pastPx, frame.heightPx - topPx + sparePx];
  const parts = [1, 2.3, 5.6].map((finer) => ({
    px: (between(random, 0.7, 1.2) * height * frame.heightPx) / finer,
    turns: (between(random, 0.8, 1.25) * count * finer * 2 * Math.PI) / frame.heightPx,
    phase: between(random, 0, 2 * Math.PI),
  }));
  const edge = (x: number) => parts.reduce((y, { px, turns, phase }) => y + px * Math.sin(turns * x + phase), 0);
  const points = Array.from({ length: widthPx / 6 + 2 }, (_, i) => {
    return `L${6 * i} ${(2 * height * frame.heightPx + edge(6 * i)).toFixed(1)}`;
  });
  const area = `<path d="M0 ${heightPx}${points.join('')}V${heightPx}z" fill="url(#area)"/>`;
  const body = svgGradient('linear', 'area', `0.1 ${colors[0]}`, `0.8 ${colors[1]}`) + area;
  const x = pxPerFrame >= 0 ? `-${pxPerFrame}*n` : `${-pxPerFrame}*n-${pastPx}`;
  return { widthPx, heightPx, body, x, y: `${topPx}` };
}

function sky({ frame, palette, random }: SceneRequest): LayerDrawing {
  const { deep, low, mid, high, glow } = palette;
  const colors = [0.15, 0.4, 0.7, 0.95].map((position) => colorOnScale(position, deep, low, mid, high, glow));
  const stars = Array.from({ length: 70 }, () => {
    const radius = between(random, 0.6, 1.6);
    const fill = choose(random, ['#ffffff44', '#ffffff88', '#ffffffcc']);
    return svgEllipse(random() * frame.widthPx, random() ** 2 * 0.4 * frame.heightPx, radius, radius, fill);
  });
  const fill = svgGradient('linear', 'sky', ...colors.map((color, i) => `${0.22 * i} ${color}`));
  const body = fill + svgRectangle(0, 0, frame.widthPx, frame.heightPx, 'url(#sky)') + stars.join('');
  return { ...frame, body, x: '0', y: '0' };
}

function sun({ frame, palette: { glow }, random, filmFrames }: SceneRequest): LayerDrawing {
  const halfPx = Math.round(between(random, 0.38, 0.54) * Math.min(frame.widthPx, frame.heightPx));
  const stops = [
    `0.214 ${colorOnScale(0.15, glow, '#ffffff')}`,
    `0.226 ${glow} 0.5`,
    `0.4 ${glow} 0.18`,
    `0.65 ${glow} 0.05`,
  ];
  const body =
    svgGradient('radial', 'sun', ...stops, `1 ${glow} 0`) + svgEllipse(halfPx, halfPx, halfPx, halfPx, 'url(#sun)');
  const x = Math.round(between(random, 0.6, 0.8) * frame.widthPx - halfPx);
  const y = Math.round(between(random, 0.2, 0.26) * frame.heightPx - halfPx);
  const risePx = Math.round(Math.min(0.18 * frame.heightPx, filmFrames));
  return { widthPx: 2 * halfPx, heightPx: 2 * halfPx, body, x: `${x}`, y: `${y}+${risePx}*(1-n/${filmFrames})` };
}
