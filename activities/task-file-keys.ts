import { extname } from 'node:path';
import type { ResultStore } from '../src/media/store/result-store.ts';

/** The keys of a video that `storeResult` has yet to store, and of the poster that came with it. */
export function stagingKeysOf(taskId: string) {
  return { video: `${stagingFolderOf(taskId)}/video.mp4`, poster: `${stagingFolderOf(taskId)}/poster.jpg` };
}

/**
 * The final keys of a task's files. They name the content of the video: an attempt that Temporal has replaced may still write, and must
 * not replace the video that its successor has measured.
 */
export function resultKeysOf(taskId: string, sha256: string) {
  const [folder, content] = [resultFolderOf(taskId), sha256.slice(0, 16)];
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
  for await (const { key } of media.list(resultFolderOf(taskId)))
    if (extname(key) === '.mp4')
      return { videoKey: key, posterKey: key.replace('/video-', '/poster-').replace(/mp4$/, 'jpg') };
  return undefined;
}

function stagingFolderOf(taskId: string): string {
  return `staging/${taskId}`;
}

function resultFolderOf(taskId: string): string {
  return `results/${taskId}`;
}

/** The folder for copies of a task's reference media, for an upstream that fetches them. */
export function referenceFolderOf(taskId: string): string {
  return `references/${taskId}`;
}

/** The folder for videos that upstreams write into the store, under the names of their jobs. */
function incomingFolderOf(taskId: string): string {
  return `incoming/${taskId}`;
}

/** No other job may write to this key, and no client ever gets a link to it. */
export function incomingKeyOf(taskId: string, jobKey: string): string {
  return `${incomingFolderOf(taskId)}/${jobKey}.mp4`;
}

/** Deletes every file of a task: its media, and files that attempts and upstreams left. */
export async function deleteTaskFiles(media: Pick<ResultStore, 'deleteFolder'>, taskId: string): Promise<void> {
  const folders = [referenceFolderOf, incomingFolderOf, stagingFolderOf, resultFolderOf];
  await Promise.all(folders.map((folderOf) => media.deleteFolder(folderOf(taskId))));
}
