import type { ResultStore } from '../src/media/result-store.ts';

/** The keys of a task's files in the result store. They are the same on every retry, so a retry overwrites its own work. */
export function mediaKeysOf(taskId: string) {
  return {
    staged: `staging/${taskId}/video.mp4`,
    stagedPoster: `staging/${taskId}/poster.jpg`,
    video: `results/${taskId}/video.mp4`,
    poster: `results/${taskId}/poster.jpg`,
    lastFrame: `results/${taskId}/last-frame.jpg`,
  };
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
export async function deleteTaskFiles(
  media: Pick<ResultStore, 'delete' | 'deleteFolder'>,
  taskId: string,
): Promise<void> {
  await media.deleteFolder(referenceFolderOf(taskId));
  await media.deleteFolder(incomingFolderOf(taskId));
  await Promise.all(Object.values(mediaKeysOf(taskId)).map((key) => media.delete(key)));
}
