import type { PreparedReferenceImage } from '../../../src/catalogue/media/media-by-role.ts';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import type { TaskInput } from '../../../src/catalogue/tasks/task.ts';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import { createFfmpeg } from '../../../src/media/ffmpeg/ffmpeg.ts';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import type { GeneratedVideoFile, RunProvider, JobRequest } from '../../../src/providers/provider-contract.ts';
import { jobRequest } from '../contract/job-request.ts';

/** The pinned ffmpeg of the service, which the test runner fetched. */
export function pinnedFfmpeg(): FfmpegRunner {
  return createFfmpeg({ path: ffmpegPath() });
}

export function ffmpegPath(): string {
  const path = process.env['FFMPEG_PATH'];
  if (path === undefined) throw new Error('FFMPEG_PATH is not set: run tests with the test runner');
  return path;
}

/** Pictures in a film. */
export async function framesOf(path: string): Promise<number> {
  const { durationSeconds, framesPerSecond } = await checkAndMeasureVideo(path);
  return Math.round(durationSeconds * framesPerSecond);
}

export function taskInput(changes: Partial<TaskInput> = {}): TaskInput {
  const audio = { generateAudio: true, imageUrls: [] };
  return { prompt: 'A paper boat', resolution: '720p', duration: 4, ratio: '16:9', ...audio, ...changes };
}

type FilmRequest = JobRequest & { readonly workFolder: string };

export function generationRequest(workFolder: string, changes: Partial<TaskInput> = {}): FilmRequest {
  return { ...jobRequest({ taskId: 'task-1', model: 'videogen-2.0' }), input: taskInput(changes), workFolder };
}

/** The film that the provider makes of a request. */
export async function filmed(
  provider: RunProvider,
  request: FilmRequest,
  report: (progress: number) => void,
  signal: AbortSignal,
): Promise<GeneratedVideoFile> {
  const end = await provider.run(request, report, { workFolder: request.workFolder, signal, onStarted: () => {} });
  if (end.kind !== 'video') throw new Error(`no film: ${end.kind}`);
  return end.video;
}

/** A white disc on grey, as JPEG, near the top, which is shown in every shape of frame. */
export async function discImage(folder: string, widthPx: number, heightPx: number): Promise<PreparedReferenceImage> {
  const path = join(folder, `disc-${widthPx}x${heightPx}.jpg`);
  const pixels = Buffer.alloc(widthPx * heightPx, 60);
  const radius = Math.min(widthPx, heightPx) / 12;
  for (let i = 0; i < pixels.length; i++) {
    const [x, y] = [(i % widthPx) - widthPx / 2, Math.floor(i / widthPx) - 0.15 * heightPx];
    if (x * x + y * y < radius * radius) pixels[i] = 255;
  }
  await sharp(pixels, { raw: { width: widthPx, height: heightPx, channels: 1 } })
    .jpeg()
    .toFile(path);
  return { path, widthPx, heightPx };
}

const ffmpegFunctions = createContext({ sin: Math.sin, pow: Math.pow, max: Math.max });

/** Where a layer is in each frame: its expressions, computed as ffmpeg does. */
export function placesOf({ x, y }: { readonly x: string; readonly y: string }, frames: number) {
  // One script for all frames: compiling one for each takes most of the time of a test.
  const script = `Array.from({ length: ${frames} }, (_, n) => ({ x: ${x}, y: ${y} }))`;
  return runInContext(script, ffmpegFunctions) as { x: number; y: number }[]; // what the script makes
}
