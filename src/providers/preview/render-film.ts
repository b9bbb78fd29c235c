import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { frameSize } from '../../domain/frame-size.ts';
import type { GeneratedVideo } from '../provider.ts';
import { encoderArguments } from './encoder-arguments.ts';
import { filmPicture } from './film-picture.ts';
import { filmCards, filmTitles } from './titles/film-titles.ts';
import { framesPerSecond, type Film, type FilmShape } from './film.ts';
import { layerGraph } from './titles/layer-graph.ts';
import { outputGraph, posterArguments } from './film-outputs.ts';
import { filmSeed } from './random.ts';
import type { RunFfmpeg } from './run-ffmpeg.ts';
import { soundtrack } from './sound/soundtrack.ts';
import { wavFile } from './sound/wav.ts';

/** A 15 s film takes about three seconds on two free cores; this is for a machine with a hundred of them to make. */
const renderTimeoutMs = 10 * 60_000;

/**
 * Renders the film into the work folder, and its poster in the same run: exactly 24 frames for each second, H.264, with AAC
 * sound when the request wants it. `onProgress` takes the share that is done, 0 to 1. Rejects as the renderer does.
 */
export async function renderFilm(
  ffmpeg: RunFfmpeg,
  film: Film,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Required<GeneratedVideo>> {
  const shape = shapeOf(film);
  // Images are decoded by threads of their own, so titles and sound are made meanwhile.
  const [picture, titles, sound] = await Promise.all([
    filmPicture(film, shape),
    filmTitles(film, shape),
    film.input.generateAudio ? writeSound(film, shape.seed) : [],
  ]);
  signal.throwIfAborted();
  const [firstTitle, soundInput] = [picture.inputs.length, picture.inputs.length + titles.inputs.length];
  await ffmpeg({
    args: [
      ...[...picture.inputs, ...titles.inputs, sound].flat(),
      '-filter_complex',
      `${picture.graph};${layerGraph(titles.layers, firstTitle)};${outputGraph(shape.filmFrames)}`,
      ...encoderArguments(film.input.generateAudio, soundInput),
      'video.mp4',
      ...posterArguments,
      'poster.jpg',
    ],
    cwd: film.workFolder,
    signal,
    timeoutMs: renderTimeoutMs,
    onFrame: (frames) => onProgress(Math.min(1, frames / shape.filmFrames)),
    ...(picture.piped === undefined ? {} : { input: picture.piped }),
  });
  return { path: join(film.workFolder, 'video.mp4'), posterPath: join(film.workFolder, 'poster.jpg') };
}

function shapeOf(film: Film): FilmShape {
  const filmFrames = film.input.duration * framesPerSecond;
  const frame = frameSize(film.input.ratio, film.images[0]);
  return { frame, filmFrames, seed: filmSeed(film.model, film.input), cards: filmCards(film, filmFrames) };
}

async function writeSound(film: Film, seed: string): Promise<string[]> {
  await writeFile(join(film.workFolder, 'sound.wav'), wavFile(await soundtrack(seed, film.input.duration)));
  return ['-f', 'wav', '-i', 'sound.wav'];
}
