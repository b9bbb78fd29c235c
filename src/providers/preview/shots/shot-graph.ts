import type { FrameSize } from '../../../domain/frame-size.ts';
import { between, createRandom, type Random } from '../random.ts';
import type { ShotPart, ShotPlan } from './shot-plan.ts';

/** How a shot moves: a slow zoom, in or out, towards a point near the middle (parts of the width and height). */
type Move = { readonly zoom: number; readonly inwards: boolean; readonly x: number; readonly y: number };

export type ShotGraphRequest = {
  readonly plan: ShotPlan;
  readonly frame: FrameSize;
  readonly framesPerSecond: number;
  readonly seed: string;
};

/**
 * The filter graph from the stills (inputs 0 and following, one frame each) to `[picture]`. Made of numbers of ours
 * alone. `zoompan` gets one frame and makes the whole part of it, without subsampled colour, so that it moves by whole
 * pixels of the larger still and not by pairs of them.
 */
export function shotGraph(request: ShotGraphRequest): string {
  const { parts, shotFrames } = request.plan;
  const random = createRandom(request.seed, 'shots');
  const moves = shotFrames.map((frames, shot) => move(random, frames / request.framesPerSecond, shot));
  const pieces = parts.flatMap(({ below, above }) => (above === undefined ? [below] : [below, above]));
  const stills = moves.map((_, shot) => still(shot, pieces.filter((piece) => piece.shot === shot).length));
  const next = labels();
  const chains = parts.map(({ below, above }, i) => {
    const lower = moving(request, next(below.shot), below, moves[below.shot]);
    if (above === undefined) return `${lower},format=yuv420p[part${i}]`;
    const upper = moving(request, next(above.shot), above, moves[above.shot]);
    const fade = `format=yuva420p,fade=t=in:s=0:n=${above.frames}:alpha=1[above${i}]`;
    return `${lower},format=yuv420p[below${i}];${upper},${fade};[below${i}][above${i}]overlay=format=yuv420[part${i}]`;
  });
  const joined = `${parts.map((_, i) => `[part${i}]`).join('')}concat=n=${parts.length}[picture]`;
  return [...stills, ...chains, joined].join(';');
}

function move(random: Random, seconds: number, shot: number): Move {
  const zoom = Math.min(0.16, 0.04 + 0.02 * seconds);
  return { zoom, inwards: shot % 2 === 0, x: between(random, 0.38, 0.62), y: between(random, 0.4, 0.6) };
}

/** The still in the colours of high-definition video, once for every part that shows it. */
function still(shot: number, uses: number): string {
  const outputs = Array.from({ length: uses }, (_, use) => `[still${shot}-${use}]`).join('');
  return `[${shot}:v]scale=out_color_matrix=bt709:out_range=tv,format=yuv444p,split=${uses}${outputs}`;
}

/** The next unused output of a shot's split. */
function labels(): (shot: number) => string {
  const used = new Map<number, number>();
  return (shot) => {
    const use = used.get(shot) ?? 0;
    used.set(shot, use + 1);
    return `[still${shot}-${use}]`;
  };
}

function moving(
  request: ShotGraphRequest,
  label: string,
  part: ShotPart,
  { zoom, inwards, x, y }: Move = noMove,
): string {
  const frames = request.plan.shotFrames[part.shot] ?? part.frames;
  const passed = `(on+${part.fromShotFrame})/${frames}`;
  const z = `1+${zoom.toFixed(4)}*${inwards ? passed : `(1-${passed})`}`;
  const corner = `x='(iw-iw/zoom)*${x.toFixed(4)}':y='(ih-ih/zoom)*${y.toFixed(4)}'`;
  const size = `${request.frame.widthPx}x${request.frame.heightPx}`;
  return `${label}zoompan=z='${z}':${corner}:d=${part.frames}:s=${size}:fps=${request.framesPerSecond},setsar=1`;
}

const noMove: Move = { zoom: 0, inwards: true, x: 0.5, y: 0.5 };
