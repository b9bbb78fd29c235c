import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { frameSize, type FrameSize } from '../../domain/frame-size.ts';
import type { TaskInput } from '../../domain/task.ts';
import type { ReferenceImage } from '../provider.ts';
import { drawableText } from './drawable-text.ts';
import { darkenFoot } from './darken-foot.ts';
import { encoderArguments } from './encoder-arguments.ts';
import { layerGraph, type TimedLayer } from './layer-graph.ts';
import { previewMark } from './preview-mark.ts';
import { filmSeed } from './random.ts';
import { rawInput } from './raw-input.ts';
import type { RunFfmpeg } from './run-ffmpeg.ts';
import { scenery } from './scenery.ts';
import { shotGraph } from './shot-graph.ts';
import { shotPlan } from './shot-plan.ts';
import { shotStill } from './shot-still.ts';
import { soundtrack } from './soundtrack.ts';
import { titleCards, type TitleCard } from './title-cards.ts';
import { titleFont } from './title-font.ts';
import { titleLayer } from './title-layer.ts';
import { wavFile } from './wav.ts';

export type Film = {
  readonly model: string;
  readonly input: TaskInput;
  /** What of the prompt is to be shown. */
  readonly title: string;
  readonly images: readonly ReferenceImage[];
  readonly workFolder: string;
};

const framesPerSecond = 24;

/** A 15 s film takes about three seconds on two free cores; this is for a machine with a hundred of them to make. */
const renderTimeoutMs = 10 * 60_000;

/** Stills are larger than the film, so that a zoom never enlarges a pixel. */
const stillScale = 1.3;

/** What the pictures come from: inputs of ffmpeg, the graph from them to `[picture]`, and what is piped in. */
type Picture = {
  readonly inputs: readonly string[][];
  readonly graph: string;
  readonly piped?: AsyncIterable<Uint8Array>;
};

type Shape = {
  readonly frame: FrameSize;
  readonly filmFrames: number;
  readonly seed: string;
  readonly cards: readonly TitleCard[];
};

/**
 * Renders the film into the work folder and answers its path: exactly 24 frames for each second, H.264, with AAC sound
 * when the request wants it. `onProgress` takes the share that is done, 0 to 1.
 */
export async function renderFilm(
  ffmpeg: RunFfmpeg,
  film: Film,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const filmFrames = film.input.duration * framesPerSecond;
  const frame = frameSize(film.input.ratio, film.images[0]);
  const shape = { frame, filmFrames, seed: filmSeed(film.model, film.input), cards: cardsOf(film, filmFrames) };
  // Images are decoded by threads of their own, so titles and sound are made meanwhile.
  const [picture, layers, sound] = await Promise.all([
    film.images.length > 0 ? shots(film, shape) : movingLight(shape),
    writeLayers(film, shape),
    film.input.generateAudio ? writeSound(film, shape.seed) : [],
  ]);
  const path = join(film.workFolder, 'video.mp4');
  signal.throwIfAborted();
  await ffmpeg({
    args: [
      ...[...picture.inputs, ...layers.inputs, sound].flat(),
      ...['-filter_complex', `${picture.graph};${layerGraph(layers.layers, picture.inputs.length)}`],
      ...encoderArguments(filmFrames, film.input.generateAudio, picture.inputs.length + layers.inputs.length),
      'video.mp4',
    ],
    cwd: film.workFolder,
    signal,
    timeoutMs: renderTimeoutMs,
    onFrame: (frames) => onProgress(Math.min(1, frames / filmFrames)),
    ...(picture.piped === undefined ? {} : { input: picture.piped }),
  });
  return path;
}

function movingLight({ frame, filmFrames, seed }: Shape): Picture {
  const { widthPx, heightPx, frames } = scenery({ seed, frame, filmFrames, framesPerSecond });
  const graph = `[0:v]scale=${frame.widthPx}:${frame.heightPx}:flags=bicubic,format=yuv420p,setsar=1[picture]`;
  return { inputs: [rawInput('yuv444p10le', { widthPx, heightPx }, 'pipe:0')], graph, piped: frames };
}

async function shots(film: Film, { frame, filmFrames, seed, cards }: Shape): Promise<Picture> {
  const even = (px: number) => 2 * Math.round((px * stillScale) / 2);
  const size = { widthPx: even(frame.widthPx), heightPx: even(frame.heightPx) };
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

function cardsOf(film: Film, filmFrames: number): TitleCard[] {
  const text = drawableText(titleFont('700Bold'), film.title);
  return titleCards(text, { filmFrames, framesPerSecond, longestStretch: film.images.length > 0 ? 1.8 : 6 });
}

async function writeLayers(film: Film, { frame, cards }: Shape) {
  const onPictures = film.images.length > 0;
  const titles = cards.map(({ text: words, ...time }): TimedLayer => ({
    ...titleLayer(words, frame, onPictures),
    time,
  }));
  const layers = [...titles, previewMark(frame)];
  const inputs: string[][] = [];
  for (const [i, layer] of layers.entries()) {
    await writeFile(join(film.workFolder, `layer-${i}.rgba`), layer.rgba);
    inputs.push(rawInput('rgba', layer, `layer-${i}.rgba`));
  }
  return { layers, inputs };
}

async function writeSound(film: Film, seed: string): Promise<string[]> {
  await writeFile(join(film.workFolder, 'sound.wav'), wavFile(await soundtrack(seed, film.input.duration)));
  return ['-f', 'wav', '-i', 'sound.wav'];
}
