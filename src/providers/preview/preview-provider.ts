import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import type { Ffmpeg } from '../../domain/ports.ts';
import { TaskError } from '../../domain/errors.ts';
import type { GeneratedVideo, HeldProvider, JobRequest, WorkPlace } from '../contract.ts';
import { readFaults } from './faults.ts';
import { renderFilm } from './render-film.ts';

export type PreviewDeps = {
  readonly ffmpeg: Ffmpeg;
  /** Whether words in double square brackets in the prompt cause failures (`PREVIEW_FAULTS=1`). */
  readonly faults: boolean;
  /** Films that are rendered at the same time, the others wait; no limit without it. */
  readonly concurrency?: number;
};

type Report = (progress: number) => void;

/**
 * Renders a film on this machine from the prompt's words, the reference images and a hash of the request. No AI model
 * is involved. The same request gives the same film, so a job needs no memory and can always be run again.
 */
export function createPreviewProvider(deps: PreviewDeps): HeldProvider {
  const limited = pLimit(deps.concurrency ?? Infinity);
  return {
    name: 'preview',
    config: { kind: 'preview', baseUrl: '', upstreamModel: '', options: {} },
    runs: 'here',
    namesJobs: true,
    forgetsJobs: true,
    images: 'file',
    run: async (request, report, to) => {
      return { kind: 'video', video: await limited(() => film(deps, request, report, to)) };
    },
  };
}

async function film(
  { ffmpeg, faults: isObeyed }: PreviewDeps,
  request: JobRequest,
  report: Report,
  { workFolder, signal }: WorkPlace,
): Promise<GeneratedVideo> {
  signal.throwIfAborted();
  const { faults, slowSeconds, title } = readFaults(request.input.prompt, isObeyed);
  report(0);
  await beSlow(slowSeconds, report, signal);
  if (faults.has('reject')) throw new TaskError('content_rejected', 'The prompt was rejected by the content policy.');
  if (faults.has('crash')) throw new TaskError('internal', 'The renderer stopped before the video was finished.');
  // Bounded by the deadline of the task alone, which is what it is there to show.
  if (faults.has('hang')) await once(signal, 'abort');
  signal.throwIfAborted();
  const images = await request.images();
  const video = faults.has('instant')
    ? await copyInstantClip(workFolder)
    : await renderFilm(ffmpeg, { ...request, workFolder, title, images }, report, signal);
  report(100);
  return video;
}

/**
 * A ready-made clip and its poster, the same for every request: 720p, 4 s, with sound; ratio, duration and sound of the
 * request are ignored. They are there to load the service, not the CPU.
 */
export async function copyInstantClip(folder: string): Promise<Required<GeneratedVideo>> {
  const video = { path: join(folder, 'video.mp4'), posterPath: join(folder, 'poster.jpg') };
  await copyFile(fileURLToPath(import.meta.resolve('#assets/instant-clip.mp4')), video.path);
  await copyFile(fileURLToPath(import.meta.resolve('#assets/instant-clip.jpg')), video.posterPath);
  return video;
}

/** Most of the bar belongs to the delay that was asked for; the film takes the rest, in little time. */
async function beSlow(seconds: number, report: Report, signal: AbortSignal): Promise<void> {
  const stepMs = 250;
  for (let passedMs = 0; passedMs < seconds * 1000; passedMs += stepMs) {
    await delay(stepMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    report((90 * (passedMs + stepMs)) / (seconds * 1000));
  }
}
