import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResultStore } from '../src/media/result-store.ts';

/** The keys of a task's files in the result store. They are the same on every retry, so a retry overwrites its own work. */
export type MediaKeys = {
  readonly staged: string;
  readonly stagedPoster: string;
  readonly video: string;
  readonly poster: string;
  readonly lastFrame: string;
};

export function mediaKeysOf(taskId: string): MediaKeys {
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
export function incomingFolderOf(taskId: string): string {
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

/** Gives `work` an empty folder, which is deleted after it. */
export async function withWorkFolder<T>(root: string, name: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(root, { recursive: true });
  const folder = await mkdtemp(join(root, `${name}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deletes the folders of killed workers, which have not changed for longer than any attempt lives. */
export async function sweepWorkFolder(root: string, olderThanMs: number): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > olderThanMs) await rm(folder, { recursive: true, force: true });
  }
}
