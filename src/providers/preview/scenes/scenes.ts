import type { FrameSize } from '../../../domain/frame-size.ts';
import { between, choose, type Random } from '../random.ts';
import { ellipse, gradient, mix, rectangle, type Drawing, type Palette } from './drawing.ts';

// What light there is is high and at the right, and the foot is dark and quiet: titles stand there.

export type SceneRequest = {
  readonly frame: FrameSize;
  readonly filmFrames: number;
  readonly random: Random;
  readonly palette: Palette;
};

/** So much more is drawn below the frame, for strips that also go up and down. */
const sparePx = 24;

/** A scene from its ground, which is opaque and as large as the frame, to what is nearest. */
export function scene(request: SceneRequest): readonly Drawing[] {
  const draw = choose(request.random, [hills, sea, city]);
  return draw(request);
}

/** Ridges one behind the other under a rising sun. */
function hills(request: SceneRequest): readonly Drawing[] {
  const { deep, low, mid, high } = request.palette;
  const direction = choose(request.random, [1, -1]);
  const ridges = [1, 2, 3, 5].map((pxPerFrame, i) => {
    const colours = [mix(i / 3, mix(0.6, high, mid), low, deep), mix(i / 3, low, deep, deep)] as const;
    return wavy(request, direction * pxPerFrame, 0.4 + 0.1 * i, 0.04 + 0.012 * i, 0.67, colours);
  });
  return [sky(request, 0.25), disc(request, 0.2), clouds(request, direction), ...ridges];
}

/** Waves that pass each other under a low sun. */
function sea(request: SceneRequest): readonly Drawing[] {
  const { deep, low, mid, high, glow } = request.palette;
  const waves = [1, -1, 2, -2, 3, -4].map((pxPerFrame, i) => {
    const colour = mix(0.15 + 0.16 * i, mix(0.35, high, glow), mid, low, deep);
    const colours = [mix(0.2 - 0.04 * i, colour, glow), mix(0.5, colour, deep)] as const;
    const wave = wavy(request, pxPerFrame, 0.43 + 0.08 * i, 0.006 + 0.0045 * i, 2.6 - 0.32 * i, colours);
    return { ...wave, y: `${wave.y}+${3 + 1.6 * i}*sin(n/${14 + 3 * i}+${i})` };
  });
  return [sky(request, 0.25), disc(request, 0.14), clouds(request, 1), ...waves];
}

/** A ride through a town at night, past rows of houses with lit windows. */
function city(request: SceneRequest): readonly Drawing[] {
  const { frame, random } = request;
  const { deep, low, mid } = request.palette;
  const direction = choose(random, [1, -1]);
  const rows = [1, 2, 4].map((pxPerFrame, i) => {
    const unitPx = (Math.min(frame.heightPx, 1.2 * frame.widthPx) / 720) * (0.65 + 0.35 * i);
    const wall = mix(i / 2, mix(0.6, mid, low), mix(0.55, low, deep), mix(0.25, deep, '#000000'));
    const fill = gradient('linear', 'wall', `0 ${wall}`, `0.7 ${mix(0.7, wall, deep)}`);
    return strip(request, direction * pxPerFrame, 0.2 + 0.13 * i, ({ widthPx, heightPx }) => {
      const houses = [fill];
      for (let x = -40; x < widthPx;) {
        const [width, top] = [between(random, 60, 120) * unitPx, 0.45 * random() ** 1.3 * heightPx];
        houses.push(rectangle(x, top, width - 2, heightPx - top, 'url(#wall)'));
        houses.push(...windows(request, { x, top, width, bottom: top + 0.6 * heightPx }, unitPx));
        x += width + (random() < 0.3 ? between(random, 4, 30) * unitPx : 0);
      }
      return houses.join('');
    });
  });
  return [sky(request, 0.8), disc(request, 0.05), ...rows];
}

type House = { readonly x: number; readonly top: number; readonly width: number; readonly bottom: number };

function windows({ random, palette }: SceneRequest, { x, top, width, bottom }: House, unitPx: number): string[] {
  const [lit, share]: [string[], number] = [[], between(random, 0.12, 0.45)];
  for (let left = x + 12 * unitPx; left + 14 * unitPx < x + width; left += 17 * unitPx) {
    for (let y = top + 20 * unitPx; y < bottom; y += 23 * unitPx) {
      const fill = mix(random(), palette.glow, palette.high) + choose(random, ['ff', 'cc', '77']);
      if (random() < share) lit.push(rectangle(left, y, 7 * unitPx, 11 * unitPx, fill));
    }
  }
  return lit;
}

/**
 * A strip that passes by, to the left when its speed is positive, from a height (in parts of the frame's) down to its foot.
 * It moves by whole pixels a frame, for a part of one would be seen as a stutter, and is as long as the film needs it.
 */
function strip(request: SceneRequest, pxPerFrame: number, top: number, draw: (size: FrameSize) => string): Drawing {
  const { frame, filmFrames } = request;
  const [pastPx, topPx] = [Math.abs(pxPerFrame) * filmFrames, Math.round(top * frame.heightPx)];
  const size = { widthPx: frame.widthPx + pastPx, heightPx: frame.heightPx - topPx + sparePx };
  const x = pxPerFrame >= 0 ? `-${pxPerFrame}*n` : `${-pxPerFrame}*n-${pastPx}`;
  return { ...size, body: draw(size), x, y: `${topPx}` };
}

/** A strip with a wavy upper edge, its waves so high and so many in parts of the frame's height. */
function wavy(
  request: SceneRequest,
  pxPerFrame: number,
  top: number,
  height: number,
  count: number,
  [crest, foot]: readonly [string, string],
): Drawing {
  const { frame, random } = request;
  const parts = [1, 2.3, 5.6].map((finer) => ({
    px: (between(random, 0.7, 1.2) * height * frame.heightPx) / finer,
    turns: (between(random, 0.8, 1.25) * count * finer * 2 * Math.PI) / frame.heightPx,
    phase: between(random, 0, 2 * Math.PI),
  }));
  const line = (x: number) => parts.reduce((y, { px, turns, phase }) => y + px * Math.sin(turns * x + phase), 0);
  return strip(request, pxPerFrame, top, ({ widthPx, heightPx }) => {
    const points = Array.from({ length: widthPx / 6 + 2 }, (_, i) => {
      return `L${6 * i} ${(2 * height * frame.heightPx + line(6 * i)).toFixed(1)}`;
    });
    const area = `<path d="M0 ${heightPx}${points.join('')}V${heightPx}z" fill="url(#area)"/>`;
    return gradient('linear', 'area', `0.1 ${crest}`, `0.8 ${foot}`) + area;
  });
}

/** Stars, the more the later it is (0 to 1), over the colours of the hour. */
function sky({ frame, palette, random }: SceneRequest, hour: number): Drawing {
  const { deep, low, mid, high, glow } = palette;
  const colours = [0.25, 0.5, 0.75, 1].map((place) => mix(place - 0.3 * hour, deep, low, mid, high, glow));
  const stars = Array.from({ length: 160 * hour }, () => {
    const radius = between(random, 0.6, 1.6);
    const fill = choose(random, ['#ffffff44', '#ffffff88', '#ffffffcc']);
    return ellipse(random() * frame.widthPx, random() ** 2 * 0.4 * frame.heightPx, radius, radius, fill);
  });
  const fill = gradient('linear', 'sky', ...colours.map((colour, i) => `${0.22 * i} ${colour}`));
  const body = fill + rectangle(0, 0, frame.widthPx, frame.heightPx, 'url(#sky)') + stars.join('');
  return { ...frame, body, x: '0', y: '0' };
}

/** Sun or moon, rising by so much of the height. */
function disc({ frame, palette: { glow }, random, filmFrames }: SceneRequest, rise: number): Drawing {
  const halfPx = Math.round(between(random, 0.38, 0.54) * Math.min(frame.widthPx, frame.heightPx));
  const stops = [`0.214 ${mix(0.15, glow, '#ffffff')}`, `0.226 ${glow} 0.5`, `0.4 ${glow} 0.18`, `0.65 ${glow} 0.05`];
  const body =
    gradient('radial', 'disc', ...stops, `1 ${glow} 0`) + ellipse(halfPx, halfPx, halfPx, halfPx, 'url(#disc)');
  const x = Math.round(between(random, 0.6, 0.8) * frame.widthPx - halfPx);
  const y = Math.round(between(random, 0.2, 0.26) * frame.heightPx - halfPx);
  const risePx = Math.round(Math.min(rise * frame.heightPx, filmFrames));
  return { widthPx: 2 * halfPx, heightPx: 2 * halfPx, body, x: `${x}`, y: `${y}+${risePx}*(1-n/${filmFrames})` };
}

function clouds(request: SceneRequest, direction: number): Drawing {
  const { random, palette } = request;
  const { heightPx } = request.frame;
  const stops = [`0 ${mix(0.5, palette.high, palette.glow)} 0.34`, `0.5 ${palette.high} 0.16`, `1 ${palette.high} 0`];
  const band = strip(request, 2 * direction, 0.06, ({ widthPx }) => {
    const puffs = Array.from({ length: (6 * widthPx) / heightPx }, () => {
      const [x, y] = [random() * widthPx, between(random, 0.06, 0.38) * heightPx];
      const [halfWidth, halfHeight] = [between(random, 0.16, 0.4) * heightPx, between(random, 0.012, 0.035) * heightPx];
      return ellipse(x, y, halfWidth, halfHeight, 'url(#cloud)');
    });
    return gradient('radial', 'cloud', ...stops) + puffs.join('');
  });
  return { ...band, heightPx: Math.round(0.45 * heightPx) };
}
