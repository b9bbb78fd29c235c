import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { instantClipBase64 } from './instant-clip-data.ts';

/** Decoded on first use, for most processes never need it. */
let clip: Buffer | undefined;

/**
 * Writes the ready-made clip and answers its path. It is the same for every request: 720p, 4 s, with sound, whatever
 * ratio, duration and sound were asked for. It is there to load the service, not the CPU.
 */
export async function writeInstantClip(folder: string): Promise<string> {
  clip ??= Buffer.from(instantClipBase64, 'base64');
  const path = join(folder, 'video.mp4');
  await writeFile(path, clip);
  return path;
}
