import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { TaskResult } from '../tasks/task.ts';
import { readVideo } from './read-video.ts';

/** Measured from the packets of a video; `sha256` is of the whole file. */
export type VideoFacts = Omit<TaskResult, 'videoKey' | 'posterKey' | 'lastFrameKey'>;

/** Measures an MP4 and checks that it plays, as far as that is possible without decoding it. Throws `VideoFileError` otherwise. */
export async function probeVideo(path: string, signal?: AbortSignal): Promise<VideoFacts> {
  const { size: bytes } = await stat(path);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { ...(await readVideo('facts', path, signal)), bytes, sha256: hash.digest('hex') };
}
