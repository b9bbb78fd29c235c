import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { frameSize } from '../../domain/frame-size.ts';
import type { Ffmpeg, ReferenceImage } from '../../domain/ports.ts';
import type { GeneratedVideo, GenerationRequest } from '../provider.ts';
import { encoderArguments } from './encoding.ts';
import { framesPerSecond, layersGraph, writeStills, type Layer } from './layers.ts';
import { photographs } from './photographs.ts';
import { createRandom, filmSeed } from './random.ts';
import { choosePalette, drawn } from './scenes/drawing.ts';
import { scene } from './scenes/scenes.ts';
import { samplesPerSecond, soundtrack } from './soundtrack.ts';
import { titleLayers } from './titles/title-layers.ts';

/** What a film is made from; `title` is what of the prompt is to be shown. */
export type Film = Pick<GenerationRequest, 'model' | 'input' | 'workFolder'> & {
  readonly title: string;
  readonly images: readonly ReferenceImage[];
};

/**
 * Renders the film into the work folder: exactly 24 frames for each second, H.264, with AAC sound when the request wants it.
 * `report` takes the progress, 0 to 100. Rejects as the renderer does.
 */
export async function renderFilm(
  ffmpeg: Ffmpeg,
  { model, input, title, images, workFolder }: Film,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<GeneratedVideo> {
  const filmFrames = input.duration * framesPerSecond;
  const frame = frameSize(input.ratio, images[0]);
  const seed = filmSeed(model, input);
  const random = createRandom(seed, 'scenery');
  const request = { frame, filmFrames, random, palette: choosePalette(random) };
  // Pictures and text are drawn by threads of their own, so sound is made meanwhile.
  const [picture, titles, sound] = await Promise.all([
    images.length > 0 ? photographs(images, request) : Promise.all(scene(request).map(drawn)),
    titleLayers(title, model, request),
    input.generateAudio ? writeSound(workFolder, seed, input.duration) : [],
  ]);
  const layers: readonly Layer[] = [...picture, ...titles];
  const stills = await writeStills(workFolder, layers);
  signal.throwIfAborted();
  await ffmpeg({
    args: [...stills, ...sound, '-filter_complex', layersGraph(layers, filmFrames)].concat(
      encoderArguments(input.generateAudio, layers.length),
      'video.mp4',
    ),
    cwd: workFolder,
    signal,
    onFrame: (frames) => report(Math.min(100, (100 * frames) / filmFrames)),
  });
  return { path: join(workFolder, 'video.mp4') };
}

async function writeSound(folder: string, seed: string, seconds: number): Promise<string[]> {
  await writeFile(join(folder, 'sound.f32'), await soundtrack(seed, seconds));
  return ['-f', 'f32le', '-ar', `${samplesPerSecond}`, '-ac', '2', '-i', 'sound.f32'];
}
