import { extname } from 'node:path';
import type { ResultStore } from '../src/media/store/result-store.ts';

/** The keys of a video that `storeResult` has yet to store, and of the poster that came with it. */
export function stagingKeysOf(taskId: string) {
  return { video: `staging/${taskId}/video.mp4`, poster: `staging/${taskId}/poster.jpg` };
}

/**
 * The final keys of a task's files. They name the content of the video: an attempt that Temporal has replaced may still write, and must
 * not replace the video that its successor has measured.
 */
export function resultKeysOf(taskId: string, sha256: string) {
  const [folder, content] = [`results/${taskId}`, sha256.slice(0, 16)];
  return {
    video: `${folder}/video-${content}.mp4`,
    poster: `${folder}/poster-${content}.jpg`,
    lastFrame: `${folder}/last-frame-${content}.jpg`,
  };
}

/** Finds a video that an attempt has stored under its final key, before its response was lost. */
export async function findStoredVideo(
  media: Pick<ResultStore, 'list'>,
  taskId: string,
): Promise<{ readonly videoKey: string; readonly posterKey: string } | undefined> {
  for await (const { key } of media.list(`results/${taskId}`))
    if (extname(key) === '.mp4')
      return { videoKey: key, posterKey: key.replace('/video-', '/poster-').replace(/mp4$/, 'jpg') };
  return undefined;
}

/** The folder for copies of a task's reference media, for an upstream that fetches them. */
export function referenceFolderOf(taskId: string): string {
  return `references/${taskId}`;
}

/** Where the upstream of a job writes its video. No other job may write to this key, and no client ever gets a link to it. */
export function upstreamUploadKeyOf(taskId: string, jobKey: string): string {
  return `incoming/${taskId}/${jobKey}.mp4`;
}

/** Deletes every file of a task: its media, and files that attempts and upstreams left. */
export async function deleteTaskFiles(media: Pick<ResultStore, 'deleteFolder'>, taskId: string): Promise<void> {
  const folders = ['references', 'incoming', 'staging', 'results'];
  await Promise.all(folders.map((folder) => media.deleteFolder(`${folder}/${taskId}`)));
}
