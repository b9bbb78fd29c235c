import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { TaskError } from '../../catalogue/tasks/task-error.ts';
import type { GeneratedVideoFile, RunProvider, JobRequest, Workspace } from '../provider-contract.ts';
import { renderFilm } from './render-film.ts';

export type PreviewDeps = {
  readonly ffmpeg: FfmpegRunner;
  /** Words in double square brackets in the prompt cause failures (`PREVIEW_FAILURES=1`). */
  readonly failures: boolean;
  /** Films that are rendered at the same time; no limit without it. */
  readonly concurrency?: number;
};

type Report = (progress: number) => void;

/**
 * Renders a film on this machine from the prompt's words, the frames and images, and a hash of the request. No AI model is
 * involved. The same request gives the same film, so a job has no state and can always be run again.
 */
export function createPreviewProvider(deps: PreviewDeps): RunProvider {
  const limited = pLimit(deps.concurrency ?? Infinity);
  return {
    name: 'preview',
    config: { kind: 'preview', baseUrl: '', upstreamModel: '', options: {} },
    runs: 'here',
    images: 'file',
    run: async (request, report, to) => {
      return { kind: 'video', video: await limited(() => film(deps, request, report, to)) };
    },
  };
}

async function film(
  { ffmpeg, failures: isObeyed }: PreviewDeps,
  request: JobRequest,
  report: Report,
  { workFolder, signal }: Workspace,
): Promise<GeneratedVideoFile> {
  signal.throwIfAborted();
  const { prompt } = request.input;
  const { directives, slowSeconds, title } = readDirectives(prompt, isObeyed);
  report(0);
  await waitWithProgress(slowSeconds, report, signal);
  if (directives.has('reject'))
    throw new TaskError('content_rejected', 'The prompt was rejected by the content policy.');
  if (directives.has('crash')) throw new TaskError('internal', 'The renderer stopped before the video was finished.');
  // The directive demonstrates the task's deadline, so nothing else ends it.
  if (directives.has('hang')) await once(signal, 'abort');
  signal.throwIfAborted();
  const { firstFrame, images: references, lastFrame } = await request.media();
  const images = [firstFrame, ...references, lastFrame].filter((image) => image !== undefined);
  const video = directives.has('instant') ? await instantFilm(ffmpeg, request, { workFolder, signal }) : undefined;
  const made = video ?? (await renderFilm(ffmpeg, { ...request, workFolder, title, images }, report, signal));
  report(100);
  return made;
}

const directive = /\[\[\s*(reject|crash|hang|instant|slow\s+(\d{1,4})\s*s)\s*\]\]/gi;
/** One hour is beyond every deadline. */
const maxSlowSeconds = 3600;

/** Reads the failures that an operator requests in the prompt; `title` is the rest of the prompt. */
function readDirectives(prompt: string, isObeyed: boolean) {
  const found = isObeyed ? [...prompt.matchAll(directive)] : [];
  const slowSeconds = found.reduce((sum, [, , seconds = 0]) => sum + Number(seconds), 0);
  return {
    directives: new Set(found.map(([, name = '']) => name.toLowerCase())),
    slowSeconds: Math.min(maxSlowSeconds, slowSeconds),
    title: isObeyed ? prompt.replace(directive, ' ') : prompt,
  };
}

/** Repeats the ready-made clip until the ordered length, without encoding it. Returns undefined for an order of another size. */
async function instantFilm(
  ffmpeg: FfmpegRunner,
  { input: { resolution, ratio, duration, generateAudio } }: JobRequest,
  { workFolder, signal }: Workspace,
): Promise<GeneratedVideoFile | undefined> {
  if (resolution !== '720p' || (ratio !== '16:9' && ratio !== 'adaptive')) return undefined;
  const clip = await copyInstantClip(workFolder);
  if (duration === 4 && generateAudio) return clip;
  const path = join(workFolder, 'repeated.mp4');
  const source = ['-stream_loop', '-1', '-i', clip.path, '-t', String(duration)];
  const args = [...source, '-c', 'copy', ...(generateAudio ? [] : ['-an']), '-movflags', '+faststart', path];
  await ffmpeg({ args, cwd: workFolder, signal });
  return { ...clip, path };
}

/** Copies a ready-made clip and its poster: 720p, 4 s, with sound. Load tests use it to measure the service instead of the CPU. */
export async function copyInstantClip(folder: string): Promise<Required<GeneratedVideoFile>> {
  const video = { path: join(folder, 'video.mp4'), posterPath: join(folder, 'poster.jpg') };
  await copyFile(fileURLToPath(import.meta.resolve('#assets/instant-clip.mp4')), video.path);
  await copyFile(fileURLToPath(import.meta.resolve('#assets/instant-clip.jpg')), video.posterPath);
  return video;
}

/** The requested delay takes 90 % of the progress bar. */
async function waitWithProgress(seconds: number, report: Report, signal: AbortSignal): Promise<void> {
  const stepMs = 250;
  for (let passedMs = 0; passedMs < seconds * 1000; passedMs += stepMs) {
    await delay(stepMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    report((90 * (passedMs + stepMs)) / (seconds * 1000));
  }
}
