import { z } from 'zod';
import { uploadIdsOf } from '../media/upload.ts';
import { mediaUrlsOf } from './task-input.ts';
import { keysOf, type Task } from './task.ts';
import { type ContentDeletion, deleteTaskContent, deleteTaskContentAs } from './content-deletion.ts';
import { findTask } from './tasks.ts';
import { ownTask } from '../http/authentication.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { existing, HttpError } from '../http/errors.ts';
import { idField, opaqueId, reasonField, unixMs } from '../http/fields.ts';
import type { HttpDeps } from '../http/http-deps.ts';

const deletedTaskSchema = z.strictObject({ taskId: z.string(), contentDeleteTime: unixMs }).meta({ id: 'DeletedTask' });

const scopeOfDeletion =
  'Deletes the prompt, image URLs, uploaded images, video, upstream messages, callback and Temporal history of a task that has ended. ' +
  'Id, model, times, price, state and ledger stay. Idempotent.';

export const deleteTask = defineEndpoint({
  operationId: 'deleteTask',
  route: 'POST /api/v1/jobs/deleteTask',
  scope: 'content:delete',
  summary: 'Delete the content of a task',
  description: `${scopeOfDeletion} In the console, only owners have this permission.`,
  body: z.strictObject({ taskId: opaqueId.min(1, { error: 'is required' }) }),
  data: deletedTaskSchema,
  failures: ['task_not_found', 'task_not_finished'],
  handler: async ({ caller, input }, deps) => {
    const task = await ownTask(deps.db, input.taskId, caller.accountId);
    return deleteFiles(
      deps,
      task,
      await deleteTaskContent(deps.db, task, uploadIdsOf(deps.publicUrl, mediaUrlsOf(task.param.input))),
    );
  },
});

export const adminDeleteTask = defineEndpoint({
  operationId: 'adminDeleteTask',
  route: 'POST /api/admin/v1/tasks/delete',
  needsRecentProof: true,
  summary: 'Delete the content of a task of any account',
  description: `${scopeOfDeletion} The account does not see the reason.`,
  body: z.strictObject({ taskId: idField('a task'), reason: reasonField }),
  data: deletedTaskSchema,
  failures: ['task_not_found', 'task_not_finished'],
  handler: async ({ actor, input: { taskId, reason } }, deps) => {
    const task = existing(await findTask(deps.db, taskId), 'task_not_found');
    const uploadIds = uploadIdsOf(deps.publicUrl, mediaUrlsOf(task.param.input));
    return deleteFiles(deps, task, await deleteTaskContentAs(deps.db, actor, { task, uploadIds, reason }));
  },
});

/** Deletes the video before responding, because its links may have been shared. Housekeeping deletes the rest. */
async function deleteFiles({ resultStore, log }: HttpDeps, task: Task, deletion: ContentDeletion | undefined) {
  const { taskId, result } = task;
  if (deletion === undefined)
    throw new HttpError('task_not_finished', { msg: 'the task has not ended; cancel it first' });
  if (deletion.changed && result !== undefined) {
    const files = keysOf(result).map((key) => resultStore.delete(key));
    await Promise.all(files).catch((err: unknown) => log.warn({ err, taskId }, 'video not deleted yet'));
  }
  return { taskId, contentDeleteTime: deletion.deletedAt };
}
