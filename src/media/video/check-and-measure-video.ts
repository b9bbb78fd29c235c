import { stat } from 'node:fs/promises';
import type { TaskResult } from '../../catalogue/tasks/task.ts';
import { sha256Of } from '../store/file-hash.ts';
import { runVideoReader } from './run-video-reader.ts';

/** Measured from the packets of a video; `sha256` is of the whole file. */
export type VideoFacts = Omit<TaskResult, 'videoKey' | 'posterKey' | 'lastFrameKey'>;

/** Measures an MP4 and checks that it plays, as far as that is possible without decoding it. Throws `VideoFileError` otherwise. */
export async function checkAndMeasureVideo(path: string, signal?: AbortSignal): Promise<VideoFacts> {
  const { size: bytes } = await stat(path);
  const sha256 = await sha256Of(path);
  return { ...(await runVideoReader('facts', path, signal)), bytes, sha256 };
}
