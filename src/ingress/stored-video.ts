import type { Caller } from '../accounts/api-key.ts';
import { ownTask } from '../http/authentication.ts';
import { existing, HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { mediaDeleted } from '../media/deleted-media.ts';
import { cancelTaskFor } from '../tasks/cancel-task.ts';
import { deleteTaskFor } from '../tasks/delete-task.ts';
import { isFinal, type Task } from '../tasks/task.ts';

/** Reads a task of the caller. */
export async function readTask({ db, readTasks }: HttpDeps, caller: Caller, id: string | undefined): Promise<Task> {
  const task = await ownTask(db, id ?? '', caller.accountId);
  await readTasks.record(caller.by, [task]);
  return task;
}

/** Reads a task of the caller. One whose content was deleted is not found, as in other APIs. */
export async function storedTask(deps: HttpDeps, caller: Caller, id: string | undefined): Promise<Task> {
  const task = await readTask(deps, caller, id);
  if (task.contentDeletedAt !== undefined) throw new HttpError('task_not_found');
  return task;
}

/** The errors of `linkTo`. */
export const contentFailures = ['task_not_finished', 'media_missing', 'media_deleted'] as const;

/** A signed link to the video of a task that has ended, or to its poster. */
export function linkTo({ resultStore, retentionMs }: HttpDeps, task: Task, file: 'videoKey' | 'posterKey'): string {
  if (!isFinal(task.state)) throw new HttpError('task_not_finished', { msg: 'the video is not completed yet' });
  const result = existing(task.result, 'media_missing');
  if (task.mediaDeletedAt !== undefined) throw mediaDeleted(task, retentionMs);
  return resultStore.link(result[file]);
}

/**
 * Cancels an unfinished task with a refund; the endpoint has checked the scope `tasks:write`. Deletes the content of any other task, which
 * requires `content:delete`.
 */
export async function removeVideo(deps: HttpDeps, caller: Caller, id: string | undefined): Promise<string> {
  const { taskId, state } = await ownTask(deps.db, id ?? '', caller.accountId);
  const mayDelete = caller.scopes.includes('content:delete');
  // A cancelled task has nothing but its prompt, so a repeated request needs no further scope.
  if (!isFinal(state) || !mayDelete) {
    const { cancelled } = await cancelTaskFor(deps, taskId);
    if (cancelled) return taskId;
  }
  if (!mayDelete) {
    const msg = 'the API key lacks the scope content:delete, which is required to delete a video that has ended';
    throw new HttpError('scope_missing', { msg });
  }
  await deleteTaskFor(deps, await ownTask(deps.db, taskId, caller.accountId));
  return taskId;
}
