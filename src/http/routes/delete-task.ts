import { z } from 'zod';
import { uploadIdsOf } from '../../domain/upload.ts';
import type { Task } from '../../domain/task.ts';
import { type ContentDeletion, deleteTaskContent, deleteTaskContentAs } from '../../stores/content-deletion.ts';
import { findTask } from '../../stores/tasks.ts';
import { ownTask } from '../authentication.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { existing, HttpError } from '../errors.ts';
import { idField, opaqueId, reasonField, unixMs } from '../fields.ts';
import type { HttpDeps } from '../http-deps.ts';

const deletedTaskSchema = z.strictObject({ taskId: z.string(), contentDeleteTime: unixMs }).meta({ id: 'DeletedTask' });

const whatGoes =
  'Prompt, image addresses, the uploaded images and the video of a task that has ended, what upstreams said, its callback and what ' +
  'Temporal recorded of it. Its id, model, times, price and state stay, and so does the ledger. A task that has not ended is refused: ' +
  'cancel it first. May be repeated.';

export const deleteTask = defineEndpoint({
  operationId: 'deleteTask',
  route: 'POST /api/v1/jobs/deleteTask',
  scope: 'content:delete',
  summary: 'Delete what a task was about',
  description: `${whatGoes} In the console, only owners of the account have this permission.`,
  body: z.strictObject({ taskId: opaqueId.min(1, { error: 'is required' }) }),
  data: deletedTaskSchema,
  failures: ['task_not_found', 'task_not_finished'],
  handler: async ({ caller, input }, deps) => {
    const task = await ownTask(deps.db, input.taskId, caller.accountId);
    return deleted(deps, task, await deleteTaskContent(deps.db, task, uploadIdsOf(deps.publicUrl, task.param)));
  },
});

export const adminDeleteTask = defineEndpoint({
  operationId: 'adminDeleteTask',
  route: 'POST /api/admin/v1/tasks/delete',
  needsRecentProof: true,
  summary: 'Delete what a task of any account was about',
  description: `${whatGoes} The account is not told the reason.`,
  body: z.strictObject({ taskId: idField('a task'), reason: reasonField }),
  data: deletedTaskSchema,
  failures: ['task_not_found', 'task_not_finished'],
  handler: async ({ actor, input: { taskId, reason } }, deps) => {
    const task = existing(await findTask(deps.db, taskId), 'task_not_found');
    const uploadIds = uploadIdsOf(deps.publicUrl, task.param);
    return deleted(deps, task, await deleteTaskContentAs(deps.db, actor, { task, uploadIds, reason }));
  },
});

/** The video goes before the answer, where the store allows: its links are in strangers' hands. The rest is left to housekeeping. */
async function deleted({ resultStore, log }: HttpDeps, task: Task, deletion: ContentDeletion | undefined) {
  const { taskId, result } = task;
  if (deletion === undefined)
    throw new HttpError('task_not_finished', { msg: 'the task has not ended yet; cancel it first' });
  if (deletion.changed && result !== undefined) {
    const files = [resultStore.delete(result.videoKey), resultStore.delete(result.posterKey)];
    await Promise.all(files).catch((err: unknown) => log.warn({ err, taskId }, 'video not deleted yet'));
  }
  return { taskId, contentDeleteTime: deletion.deletedAt };
}
