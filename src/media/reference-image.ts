import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { FrameSize } from './frame-size.ts';
import type { ReferenceImage } from '../tasks/ports.ts';
import { TaskError } from '../platform/errors.ts';
import type { FailCode } from '../tasks/task.ts';
import type { GuardedClient } from '../outbound/client.ts';
import { createSlots } from '../outbound/limits.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { decodeImage, ImageRefusal } from './image-decode.ts';

export type ImageSource = { readonly url: string; readonly path: string };

export type ImageFetch = {
  /** The images, each with the path of its field in messages. */
  readonly sources: readonly ImageSource[];
  /** An existing folder of this attempt. The images become `image-0.jpg`, `image-1.jpg`, … in it. */
  readonly folder: string;
  readonly signal: AbortSignal;
};

type FetchReferenceImages = ImageFetch & {
  readonly client: Pick<GuardedClient, 'download'>;
  /** Copies an image that was uploaded to us to `path`, and answers whether it is still there; undefined for every other address. */
  readonly readUpload?: (url: string, path: string) => Promise<boolean> | undefined;
};

/** The documented 30 MB, read as the larger of its two meanings. */
const maxMegabytes = 30;
/** The timeout covers the whole download. */
const limits = { maxBytes: maxMegabytes * 1024 * 1024, timeoutMs: 120_000, maxRedirects: 3 } as const;
const headers = { accept: 'image/jpeg, image/png, image/webp' } as const;

/** Images of one task that are fetched at the same time. */
const maxParallel = 3;

/** Images that are decoded at the same time in this process: each may need 300 MB at 6000 by 6000 px. None waits in memory. */
const decoding = createSlots({ maxHeld: 2, maxWaiting: 1000, maxWaitMs: 10 * 60_000 });

/**
 * Fetches, checks and re-encodes the reference images, in the order of `sources`. Throws `TaskError` for the first bad one and stops
 * the others; ends after the last fetch has ended, because the folder is deleted then. An error that no image caused is
 * thrown unchanged and may be retried.
 */
export async function fetchReferenceImages(request: FetchReferenceImages): Promise<readonly ReferenceImage[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([request.signal, stop.signal]);
  const limited = pLimit(maxParallel);
  const fetches = request.sources.map((source, index) =>
    limited(() => fetchOne({ ...request, signal }, index, source)),
  );
  try {
    return await Promise.all(fetches);
  } catch (error) {
    stop.abort();
    await Promise.allSettled(fetches);
    throw error;
  }
}

async function fetchOne(request: FetchReferenceImages, index: number, source: ImageSource): Promise<ReferenceImage> {
  const fetchedPath = join(request.folder, `image-${index}.fetched`);
  await download(request, source, fetchedPath);
  const path = join(request.folder, `image-${index}.jpg`);
  const size = await decoding.hold('image', request.signal, () => reencode(source, fetchedPath, path));
  await rm(fetchedPath);
  return { path, ...size };
}

async function download(request: FetchReferenceImages, source: ImageSource, path: string): Promise<void> {
  const { url } = source;
  const { client, signal, readUpload } = request;
  const isThere = await readUpload?.(url, path);
  if (isThere === true) return;
  if (isThere === false) throw imageError('image_unreachable', source, 'has expired; upload it again');
  const answer = await client.download(url, path, { ...limits, headers, signal }).catch((error: unknown) => {
    throw toImageError(error, source);
  });
  if (answer.status < 200 || answer.status > 299) {
    throw imageError('image_unreachable', source, `could not be fetched: its server answered ${answer.status}`);
  }
}

/** The message is the same for every network error, so that it reveals nothing about our network. */
function toImageError(error: unknown, source: ImageSource): unknown {
  if (!(error instanceof OutboundError) || error.kind === 'aborted' || error.kind === 'busy') return error;
  if (error.kind === 'too_large')
    return imageError('image_invalid', source, `is larger than ${maxMegabytes} MB`, error);
  const detail = new Error(`${error.kind}: ${error.detail}`, { cause: error });
  return imageError('image_unreachable', source, 'could not be fetched', detail);
}

async function reencode(source: ImageSource, fetchedPath: string, path: string): Promise<FrameSize> {
  const bytes = await readFile(fetchedPath);
  const { jpeg, widthPx, heightPx } = await decodeImage(bytes).catch((error: unknown) => {
    throw error instanceof ImageRefusal ? imageError('image_invalid', source, error.message, error) : error;
  });
  await writeFile(path, jpeg);
  return { widthPx, heightPx };
}

/** Final, because retrying only where it might help would show a client which addresses we refuse. */
function imageError(failCode: FailCode, { path }: ImageSource, why: string, cause?: unknown): TaskError {
  return new TaskError(failCode, `${path} ${why}.`, { cause });
}
