import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReferenceImage } from '../provider.ts';
import { darkenFoot } from './scenery/darken-foot.ts';
import { framesPerSecond, type Film, type FilmShape } from './film.ts';
import { rawInput } from './raw-input.ts';
import { scenery } from './scenery/scenery.ts';
import { shotGraph } from './shots/shot-graph.ts';
import { shotPlan } from './shots/shot-plan.ts';
import { shotStill } from './shots/shot-still.ts';

/** Inputs of ffmpeg, the graph from them to `[picture]`, and what is piped in. */
export type FilmPicture = {
  readonly inputs: readonly string[][];
  readonly graph: string;
  readonly piped?: AsyncIterable<Uint8Array>;
};

/** Stills are larger than the film, so that a zoom never enlarges a pixel. */
const stillScale = 1.3;

/** The reference images as shots, their stills written to the work folder; moving light when there are none. */
export async function filmPicture(film: Film, shape: FilmShape): Promise<FilmPicture> {
  return film.images.length > 0 ? shots(film, shape) : movingLight(shape);
}

function movingLight({ frame, filmFrames, seed }: FilmShape): FilmPicture {
  const { widthPx, heightPx, frames } = scenery({ seed, frame, filmFrames, framesPerSecond });
  const graph = `[0:v]scale=${frame.widthPx}:${frame.heightPx}:flags=bicubic,format=yuv420p,setsar=1[picture]`;
  return { inputs: [rawInput('yuv444p10le', { widthPx, heightPx }, 'pipe:0')], graph, piped: frames };
}

async function shots(film: Film, { frame, filmFrames, seed, cards }: FilmShape): Promise<FilmPicture> {
  const size = { widthPx: enlargedPx(frame.widthPx), heightPx: enlargedPx(frame.heightPx) };
  const write = async (image: ReferenceImage, name: string) => {
    const still = await shotStill(image, size);
    await writeFile(join(film.workFolder, name), cards.length > 0 ? darkenFoot(still, size) : still);
    return rawInput('rgb24', size, name);
  };
  const inputs: string[][] = [];
  // Two at a time: a large image takes a hundred megabytes while it is decoded.
  for (let i = 0; i < film.images.length; i += 2) {
    const pair = film.images.slice(i, i + 2).map((image, j) => write(image, `still-${i + j}.rgb`));
    inputs.push(...(await Promise.all(pair)));
  }
  const plan = shotPlan(film.images.length, filmFrames);
  return { inputs, graph: shotGraph({ plan, frame, framesPerSecond, seed }) };
}

/** Even, because colour is stored for blocks of two by two pixels. */
function enlargedPx(px: number): number {
  return 2 * Math.round((px * stillScale) / 2);
}
