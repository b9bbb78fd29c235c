import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PreparedReferenceImage } from '../../catalogue/media/media-by-role.ts';
import { createSlotsPerKey } from '../../platform/outbound/deadlines-and-slots.ts';
import {
  downloadOrCopyMedia,
  fetchEach,
  type FetchSettings,
  invalidMediaError,
  type MediaToFetch,
} from './fetch-media.ts';
import { ImageRefusedError } from '../pictures/image-refused-error.ts';
import { reencodeAnyImage } from '../pictures/reencode-any-image.ts';
import { maxFetchedImageMegabytes } from './upload-limits-and-addresses.ts';

type FetchReferenceImages = FetchSettings & {
  /** The images become `image-0.jpg`, `image-1.jpg`, … in the folder. */
  readonly sources: readonly MediaToFetch[];
};

const limits = {
  kind: 'image',
  maxMegabytes: maxFetchedImageMegabytes,
  timeoutMs: 120_000,
  accept: 'image/jpeg, image/png, image/webp, */*;q=0.5',
} as const;

/** Images that are decoded at the same time in this process: each may need 300 MB at 6000 by 6000 px. None waits in memory. */
const decoding = createSlotsPerKey({ maxHeld: 2, maxWaiting: 1000, maxWaitMs: 10 * 60_000 });

/**
 * Fetches, checks and re-encodes the reference images, in the order of `sources`. Throws `TaskError` for the first invalid one. An error
 * that no image caused is thrown unchanged and may be retried.
 */
export function fetchReferenceImages({ sources, ...settings }: FetchReferenceImages) {
  return fetchEach(sources, settings, fetchOne);
}

async function fetchOne(settings: FetchSettings, index: number, source: MediaToFetch): Promise<PreparedReferenceImage> {
  const { folder, signal } = settings;
  const fetchedPath = join(folder, `image-${index}.fetched`);
  await downloadOrCopyMedia(settings, source, fetchedPath, limits);
  const path = join(folder, `image-${index}.jpg`);
  const reencode = async () => {
    const { jpeg, ...size } = await reencodeAnyImage(fetchedPath, { maxMegabytes: maxFetchedImageMegabytes, signal });
    await writeFile(path, jpeg);
    return size;
  };
  const size = await decoding.hold('image', signal, reencode).catch((error: unknown) => {
    throw error instanceof ImageRefusedError ? invalidMediaError('image', source, error.message, error) : error;
  });
  await rm(fetchedPath);
  return { path, ...size };
}
