import { HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { uploadIdsOf } from '../media/upload.ts';
import { type ContentDeletion, deleteTaskContent } from './content-deletion.ts';
import { mediaUrlsOf } from './task-input.ts';
import { keysOf, type Task } from './task.ts';

/** Deletes the content of a task of the caller that has ended. */
export async function deleteTaskFor(deps: HttpDeps, task: Task) {
  return requireEnded(await deleteEndedTask(deps, task));
}

/** Deletes the content of a task of the caller. Undefined for an unfinished task, which stays unchanged. */
export async function deleteEndedTask(deps: HttpDeps, task: Task) {
  const uploadIds = uploadIdsOf(deps.publicUrl, mediaUrlsOf(task.param.input));
  const deletion = await deleteTaskContent(deps.db, task, uploadIds);
  return deletion && deleteFilesOf(deps, task, deletion);
}

/** Deletes the video before responding, because its links may have been shared. Housekeeping deletes the rest. */
export async function deleteFilesOf({ resultStore, log }: HttpDeps, task: Task, deletion: ContentDeletion) {
  const { taskId, result } = task;
  if (deletion.changed && result !== undefined) {
    const files = keysOf(result).map((key) => resultStore.delete(key));
    await Promise.all(files).catch((err: unknown) => log.warn({ err, taskId }, 'video not deleted yet'));
  }
  return { taskId, contentDeleteTime: deletion.deletedAt };
}

export function requireEnded<Deletion>(deletion: Deletion | undefined): Deletion {
  if (deletion !== undefined) return deletion;
  throw new HttpError('task_not_finished', { msg: 'the task has not ended; cancel it first' });
}
