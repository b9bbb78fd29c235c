import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';
import type { ReferenceImage } from '../../catalogue/media/media-by-role.ts';
import { createSlots } from '../../platform/outbound/deadlines-and-slots.ts';
import { downloadMedia, fetchEach, type FetchSettings, invalidMedia, type MediaToFetch } from './fetch-media.ts';
import { ImageRefusal } from '../pictures/decode-image.ts';
import { readImage } from '../pictures/decode-any-image.ts';
import { maxImageMegabytes } from './upload-rules.ts';

type FetchReferenceImages = FetchSettings & {
  /** The images become `image-0.jpg`, `image-1.jpg`, … in the folder. */
  readonly sources: readonly MediaToFetch[];
};

const limits = {
  kind: 'image',
  maxMegabytes: maxImageMegabytes,
  timeoutMs: 120_000,
  accept: 'image/jpeg, image/png, image/webp, */*;q=0.5',
} as const;

/** Images that are decoded at the same time in this process: each may need 300 MB at 6000 by 6000 px. None waits in memory. */
const decoding = createSlots({ maxHeld: 2, maxWaiting: 1000, maxWaitMs: 10 * 60_000 });

/**
 * Fetches, checks and re-encodes the reference images, in the order of
 * `sources`. Throws `TaskError` for the first invalid one. An error that no
 * image caused is thrown unchanged and may be retried.
 */
export async function fetchReferenceImages({
  sources,
  ...settings
}: FetchReferenceImages): Promise<readonly ReferenceImage[]> {
  return await fetchEach(sources, settings.signal, (source, index, signal) =>
    fetchOne({ ...settings, signal }, index, source),
  );
}

async function fetchOne(settings: FetchSettings, index: number, source: MediaToFetch): Promise<ReferenceImage> {
  const fetchedPath = join(settings.folder, `image-${index}.fetched`);
  await downloadMedia(settings, source, fetchedPath, limits);
  const path = join(settings.folder, `image-${index}.jpg`);
  const size = await decoding.hold('image', settings.signal, () =>
    reencode(settings.signal, source, fetchedPath, path),
  );
  await rm(fetchedPath);
  return { path, ...size };
}

async function reencode(
  signal: AbortSignal,
  source: MediaToFetch,
  fetchedPath: string,
  path: string,
): Promise<FrameSize> {
  const reading = readImage(fetchedPath, { maxMegabytes: maxImageMegabytes, signal });
  const { jpeg, widthPx, heightPx } = await reading.catch((error: unknown) => {
    throw error instanceof ImageRefusal ? invalidMedia('image', source, error.message, error) : error;
  });
  await writeFile(path, jpeg);
  return { widthPx, heightPx };
}
