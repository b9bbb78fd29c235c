import type { Task } from '../domain/task.ts';

/** Fresh links to a task's video: empty until success, and again once the media has passed its retention. */
export async function resultUrls(
  store: { link(key: string): Promise<string> | string },
  task: Task,
): Promise<readonly string[]> {
  if (task.result === undefined || task.mediaDeletedAt !== undefined) return [];
  return [await store.link(task.result.videoKey)];
}
