import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Ffmpeg } from '../../domain/ports.ts';
import { TaskFault } from '../../domain/errors.ts';
import type { GeneratedVideo, GenerationRequest, Provider } from '../provider.ts';
import { readFaults } from './faults.ts';
import { renderFilm } from './render-film.ts';

export type PreviewDeps = {
  readonly ffmpeg: Ffmpeg;
  /** Whether words in double square brackets in the prompt cause failures (`PREVIEW_FAULTS=1`). */
  readonly faults: boolean;
};

type Report = (progress: number) => void;

/**
 * Renders a film on this machine from the prompt's words, the reference images and a hash of the request. No AI model
 * is involved. The same request gives the same film, so a job needs no memory and can always be followed again.
 */
export function createPreviewProvider(deps: PreviewDeps): Provider {
  // Known from the task alone: whether a lost `submit` was ever made does not matter.
  const jobIdOf = ({ taskId }: Pick<GenerationRequest, 'taskId'>) => `preview-${taskId}`;
  return {
    name: 'preview',
    isLocal: true,
    submit: async (request) => jobIdOf(request),
    recover: async (request) => ({ kind: 'found', jobId: jobIdOf(request) }),
    follow: (_jobId, request, report, signal) => follow(deps, request, report, signal),
    result: async () => undefined,
    cancel: async () => undefined,
  };
}

async function follow(
  { ffmpeg, faults: isObeyed }: PreviewDeps,
  request: GenerationRequest,
  report: Report,
  signal: AbortSignal,
): Promise<GeneratedVideo> {
  signal.throwIfAborted();
  const { faults, slowSeconds, title } = readFaults(request.input.prompt, isObeyed);
  report(0);
  await beSlow(slowSeconds, report, signal);
  if (faults.has('reject')) throw new TaskFault('content_rejected', 'The prompt was rejected by the content policy.');
  if (faults.has('crash')) throw new TaskFault('internal', 'The renderer stopped before the video was finished.');
  // Bounded by the deadline of the task alone, which is what it is there to show.
  if (faults.has('hang')) await once(signal, 'abort');
  signal.throwIfAborted();
  const images = await request.images();
  const video = faults.has('instant')
    ? await copyInstantClip(request.workFolder)
    : await renderFilm(ffmpeg, { ...request, title, images }, report, signal);
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
