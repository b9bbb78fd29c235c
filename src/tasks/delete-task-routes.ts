import { z } from 'zod';
import { uploadIdsOf } from '../media/upload.ts';
import { mediaUrlsOf } from './task-input.ts';
import { deleteTaskContentAs } from './content-deletion.ts';
import { deleteFilesOf, deleteTaskFor } from './delete-task.ts';
import { findTask } from './tasks.ts';
import { ownTask } from '../http/authentication.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { existing } from '../http/errors.ts';
import { idField, opaqueId, reasonField, unixMs } from '../http/fields.ts';

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
    return deleteTaskFor(deps, await ownTask(deps.db, input.taskId, caller.accountId));
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
    return deleteFilesOf(deps, task, await deleteTaskContentAs(deps.db, actor, { task, uploadIds, reason }));
  },
});
