import type { PreparedReferenceImage } from '../../catalogue/media/media-by-role.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { frameSize } from '../../catalogue/media/frame-size.ts';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import type { GeneratedVideoFile, JobRequest, Workspace } from '../provider-contract.ts';
import { framesPerSecond, layersFilterGraph, writeStillsAsFfmpegInputs, type Layer } from './layers-filter-graph.ts';
import { photographLayers } from './photograph-layers.ts';
import { createRandom, filmSeed } from './film-random.ts';
import { choosePalette, renderDrawing } from './scenes/drawing.ts';
import { randomSceneDrawings } from './scenes/random-scene-drawings.ts';
import { samplesPerSecond, composeSoundtrack } from './soundtrack.ts';
import { titleAndMarkLayers } from './titles/title-and-mark-layers.ts';

/** A fixed number of threads gives the same bytes on every machine. */
const encodedPicture = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-profile:v', 'high'].concat(
  ['-pix_fmt', 'yuv420p', '-r', `${framesPerSecond}`, '-g', '48', '-threads', '3', '-flags:v', '+bitexact'],
  ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
);
const encodedSound = ['-c:a', 'aac', '-b:a', '160k', '-ar', '48000', '-ac', '2', '-flags:a', '+bitexact'];

/** The index comes first, so that the film plays while it loads. Without metadata the same request gives the same bytes. */
const container = ['-f', 'mp4', '-movflags', '+faststart', '-map_metadata', '-1', '-fflags', '+bitexact'];

export function encoderArguments(withSound: boolean, soundInput: number): string[] {
  const sound = withSound ? ['-map', `${soundInput}:a`, ...encodedSound] : ['-an'];
  return ['-map', '[film]', ...encodedPicture, ...sound, ...container];
}

/** `title` is the part of the prompt that is shown. */
export type Film = Pick<JobRequest, 'model' | 'input'> &
  Pick<Workspace, 'workFolder'> & {
    readonly title: string;
    readonly images: readonly PreparedReferenceImage[];
  };

/**
 * Renders the film into the work folder: exactly 24 frames for each second, H.264, with AAC sound when the request has it.
 * `report` receives the progress, 0 to 100.
 */
export async function renderFilm(
  ffmpeg: FfmpegRunner,
  { model, input, title, images, workFolder }: Film,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<GeneratedVideoFile> {
  const filmFrames = input.duration * framesPerSecond;
  const frame = frameSize(input.resolution, input.ratio, images[0]);
  const seed = filmSeed(model, input);
  const random = createRandom(seed, 'scenery');
  const request = { frame, filmFrames, random, palette: choosePalette(random) };
  const [picture, titles, sound] = await Promise.all([
    images.length > 0
      ? photographLayers(images, request)
      : Promise.all(randomSceneDrawings(request).map(renderDrawing)),
    titleAndMarkLayers(title, model, request),
    input.generateAudio ? writeSound(workFolder, seed, input.duration) : [],
  ]);
  const layers: readonly Layer[] = [...picture, ...titles];
  const stills = await writeStillsAsFfmpegInputs(workFolder, layers);
  signal.throwIfAborted();
  const encoded = encoderArguments(input.generateAudio, layers.length);
  await ffmpeg({
    args: [...stills, ...sound, '-filter_complex', layersFilterGraph(layers, filmFrames), ...encoded, 'video.mp4'],
    cwd: workFolder,
    signal,
    onFrame: (frames) => report(Math.min(100, (100 * frames) / filmFrames)),
  });
  return { path: join(workFolder, 'video.mp4') };
}

async function writeSound(folder: string, seed: string, seconds: number): Promise<string[]> {
  await writeFile(join(folder, 'sound.f32'), await composeSoundtrack(seed, seconds));
  return ['-f', 'f32le', '-ar', `${samplesPerSecond}`, '-ac', '2', '-i', 'sound.f32'];
}
