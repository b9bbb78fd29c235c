import type { PreparedReferenceClip } from '../../catalogue/media/media-by-role.ts';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createSlotsPerKey } from '../../platform/outbound/deadlines-and-slots.ts';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { ClipRefusedError, type ClipKind, clipContainerOf } from '../video/clip-container.ts';
import { type ClipLimits, convertClip } from '../ffmpeg/convert-clip.ts';
import {
  downloadOrCopyMedia,
  fetchEach,
  type FetchSettings,
  invalidMediaError,
  type MediaToFetch,
} from './fetch-media.ts';
import { formatOfFile } from './file-format.ts';
import { ffmpegThreads } from '../ffmpeg/untrusted-input.ts';
import { whatToSendText } from './upload-limits-and-addresses.ts';

type FetchReferenceClips = FetchSettings & {
  readonly kind: ClipKind;
  readonly limits: ClipLimits;
  /** The clips become `video-0.mp4`, `audio-0.mp3`, … in the folder. */
  readonly sources: readonly MediaToFetch[];
  readonly ffmpeg: FfmpegRunner;
};

/** Clips that are converted at the same time in this process: each needs memory for its frames, and `ffmpegThreads` cores. */
const converting = createSlotsPerKey({
  maxHeld: Math.max(1, Math.floor(availableParallelism() / ffmpegThreads)),
  maxWaiting: 1000,
  maxWaitMs: 60 * 60_000,
});

const forms = {
  video: { extension: 'mp4', accept: 'video/mp4, video/quicktime, video/webm, */*;q=0.5' },
  audio: { extension: 'mp3', accept: 'audio/mpeg, audio/wav, audio/mp4, */*;q=0.5' },
} as const satisfies Record<ClipKind, unknown>;

/** A link of half a megabyte a second is fast enough for every size. */
const baseTimeoutMs = 120_000;
const timeoutMsPerMegabyte = 2_000;

/**
 * Fetches, checks and re-encodes reference videos or audio, in the order of `sources`. Throws `TaskError` for the first invalid one. An
 * error that no clip caused is thrown unchanged and may be retried.
 */
export function fetchReferenceClips({ sources, ...request }: FetchReferenceClips) {
  return fetchEach(sources, request, fetchOne);
}

async function fetchOne(
  request: Omit<FetchReferenceClips, 'sources'>,
  index: number,
  source: MediaToFetch,
): Promise<PreparedReferenceClip> {
  const { kind, limits, folder, signal, ffmpeg } = request;
  const { extension, accept } = forms[kind];
  const fetchedPath = join(folder, `${kind}-${index}.fetched`);
  const { maxMegabytes } = limits;
  const timeoutMs = baseTimeoutMs + maxMegabytes * timeoutMsPerMegabyte;
  await downloadOrCopyMedia(request, source, fetchedPath, { kind, maxMegabytes, timeoutMs, accept });
  const path = join(folder, `${kind}-${index}.${extension}`);
  try {
    const demuxer = await demuxerOf(kind, fetchedPath, limits);
    const convert = () => convertClip({ ffmpeg, kind, demuxer, limits, fetchedPath, path, signal });
    const seconds = await converting.hold('clip', signal, convert);
    await rm(fetchedPath);
    return { path, seconds };
  } catch (error) {
    throw error instanceof ClipRefusedError ? invalidMediaError(kind, source, error.message, error) : error;
  }
}

async function demuxerOf(kind: ClipKind, path: string, { maxMegabytes, maxSeconds }: ClipLimits) {
  const container = await clipContainerOf(path);
  if (container?.kind === kind) return container.demuxer;
  const found = (await formatOfFile(path))?.name;
  const name =
    (container?.kind === 'video' ? found?.replace(/ file$/, ' video') : found) ??
    `not a readable ${kind === 'video' ? 'video' : 'sound file'}`;
  const limits = `of at most ${maxMegabytes} MB and ${maxSeconds} seconds`;
  throw new ClipRefusedError(`is ${name}; ${whatToSendText(kind, limits)}`);
}
