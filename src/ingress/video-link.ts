import { HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { mediaDeleted } from '../media/deleted-media.ts';
import { resultLinks } from '../media/signed-link.ts';
import { isFinal, type Task } from '../tasks/task.ts';

/** Every error of `videoLink`. */
export const videoLinkFailures = ['task_not_finished', 'media_missing', 'media_deleted'] as const;

/** Returns a signed link to the video of a task. */
export function videoLink({ resultStore, retentionMs }: HttpDeps, task: Task): string {
  const [link] = resultLinks(resultStore, task).resultUrls;
  if (link !== undefined) return link;
  if (!isFinal(task.state)) throw new HttpError('task_not_finished', { msg: 'the video is not finished yet' });
  if (task.state === 'fail') throw new HttpError('media_missing', { msg: 'the task failed, so it has no video' });
  throw mediaDeleted(task, retentionMs);
}
