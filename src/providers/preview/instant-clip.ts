import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GeneratedVideo } from '../provider.ts';
import { instantClipBase64 } from './instant-clip-data.ts';
import { instantPosterBase64 } from './instant-poster-data.ts';

/** Decoded on first use, for most processes never need it. */
let decoded: { readonly clip: Buffer; readonly poster: Buffer } | undefined;

/**
 * Writes the ready-made clip and its poster. They are the same for every request: 720p, 4 s, with sound, whatever
 * ratio, duration and sound were asked for. They are there to load the service, not the CPU.
 */
export async function writeInstantClip(folder: string): Promise<Required<GeneratedVideo>> {
  decoded ??= {
    clip: Buffer.from(instantClipBase64, 'base64'),
    poster: Buffer.from(instantPosterBase64, 'base64'),
  };
  const video = { path: join(folder, 'video.mp4'), posterPath: join(folder, 'poster.jpg') };
  await Promise.all([writeFile(video.path, decoded.clip), writeFile(video.posterPath, decoded.poster)]);
  return video;
}
