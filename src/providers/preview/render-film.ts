import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { frameSize } from '../../domain/frame-size.ts';
import type { Ffmpeg, ReferenceImage } from '../../domain/ports.ts';
import type { GeneratedVideo, GenerationRequest } from '../provider.ts';
import { framesPerSecond, layersGraph, writeStills, type Layer } from './layers.ts';
import { photographs } from './photographs.ts';
import { choose, createRandom } from './random.ts';
import { choosePalette, drawn } from './scenes/drawing.ts';
import { scene } from './scenes/scenes.ts';
import { titleLayers } from './titles/title-layers.ts';

/** Three threads suit two cores and give the same bytes on any number of them. */
const encodedPicture = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-profile:v', 'high'].concat(
  ['-pix_fmt', 'yuv420p', '-r', `${framesPerSecond}`, '-g', '48', '-threads', '3', '-flags:v', '+bitexact'],
  ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
);
const encodedSound = ['-c:a', 'aac', '-b:a', '160k', '-ar', '48000', '-ac', '2', '-flags:a', '+bitexact'];

/** The index comes first, so that the film plays while it loads; nothing tells when or with what it was made. */
const container = ['-f', 'mp4', '-movflags', '+faststart', '-map_metadata', '-1', '-fflags', '+bitexact'];

/** How `[film]` and a sound, by its name for `-map`, become the file. */
export function encoderArguments(sound: string | undefined): string[] {
  const audio = sound === undefined ? ['-an'] : ['-map', sound, ...encodedSound];
  return ['-map', '[film]', ...encodedPicture, ...audio, ...container];
}

/** Composed for these films: 15 s each, fading in, most of it above 300 Hz, which the speaker of a telephone can play. */
const music = ['music-1.m4a', 'music-2.m4a', 'music-3.m4a'] as const;
const fadeOutSeconds = 0.9;

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
  // Model and input decide the film, the task does not.
  const random = createRandom(JSON.stringify([model, input]));
  const request = { frame, filmFrames, random, palette: choosePalette(random) };
  const [picture, titles] = await Promise.all([
    images.length > 0 ? photographs(images, request) : Promise.all(scene(request).map(drawn)),
    titleLayers(title, model, request),
  ]);
  const layers: readonly Layer[] = [...picture, ...titles];
  const stills = await writeStills(workFolder, layers);
  const track = fileURLToPath(import.meta.resolve(`#assets/${choose(random, music)}`));
  const fadeOut = `afade=t=out:st=${input.duration - fadeOutSeconds}:d=${fadeOutSeconds}`;
  const sound = `[${layers.length}:a]atrim=end=${input.duration},${fadeOut}[sound]`;
  const graph = [layersGraph(layers, filmFrames), ...(input.generateAudio ? [sound] : [])].join(';');
  signal.throwIfAborted();
  await ffmpeg({
    args: [...stills, '-stream_loop', '-1', '-i', track, '-filter_complex', graph]
      .concat(encoderArguments(input.generateAudio ? '[sound]' : undefined))
      .concat('video.mp4'),
    cwd: workFolder,
    signal,
    onFrame: (frames) => report(Math.min(100, (100 * frames) / filmFrames)),
  });
  return { path: join(workFolder, 'video.mp4') };
}
