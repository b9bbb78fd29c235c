import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResultStore } from '../src/media/result-store.ts';

/** Where a task's files lie in the result store: the same keys on every retry, so that a retry overwrites its own work. */
export type MediaKeys = {
  readonly staged: string;
  readonly stagedPoster: string;
  readonly video: string;
  readonly poster: string;
};

export function mediaKeysOf(taskId: string): MediaKeys {
  return {
    staged: `staging/${taskId}/video.mp4`,
    stagedPoster: `staging/${taskId}/poster.jpg`,
    video: `results/${taskId}/video.mp4`,
    poster: `results/${taskId}/poster.jpg`,
  };
}

/** Where copies of a task's reference images lie for an upstream that fetches them. */
export function imageFolderOf(taskId: string): string {
  return `images/${taskId}`;
}

/** Where upstreams that may write into the store put a task's videos, under the names of its jobs. */
export function incomingFolderOf(taskId: string): string {
  return `incoming/${taskId}`;
}

/** Of one job: no other job of any task may write there, and no client is ever given a link to it. */
export function incomingKeyOf(taskId: string, jobKey: string): string {
  return `${incomingFolderOf(taskId)}/${jobKey}.mp4`;
}

/** Deletes every file of a task: its media, and what attempts and upstreams left. */
export async function deleteTaskFiles(
  media: Pick<ResultStore, 'delete' | 'deleteFolder'>,
  taskId: string,
): Promise<void> {
  await media.deleteFolder(imageFolderOf(taskId));
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

/** Deletes the folders that killed workers left: those untouched for longer than any attempt lives. */
export async function sweepWorkFolder(root: string, olderThanMs: number): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > olderThanMs) await rm(folder, { recursive: true, force: true });
  }
}
