import { z } from 'zod';
import { uploadIdsOf } from '../../media/references/upload-limits-and-addresses.ts';
import { mediaUrlsOf } from '../../catalogue/input/task-input.ts';
import { deleteTaskContentAs } from '../../tasks/end/content-deletion-rows.ts';
import {
  type DeleteTaskDeps,
  deleteContentOfEndedTask,
  deleteResultFiles,
} from '../../tasks/end/delete-content-of-task.ts';
import { actOnEachTask, outcomesSchemaOf, taskIdsField } from './act-on-many-tasks.ts';
import { findTask } from '../../tasks/task-rows.ts';
import { requireOwnTask } from '../core/authentication.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting, HttpError } from '../core/http-error.ts';
import { idField, uncheckedIdField, reasonField, unixMsSchema } from '../core/request-fields.ts';

const deletedTaskSchema = z
  .strictObject({ taskId: z.string(), contentDeleteTime: unixMsSchema })
  .meta({ id: 'DeletedTask' });

const scopeOfDeletion =
  'Deletes the prompt, media URLs, uploaded files, video, upstream messages, callback and Temporal history of a task that has ended. ' +
  'Other tasks that have ended lose the same uploads. Id, model, times, price, state and ledger stay. Idempotent.';

export const deleteTask = defineEndpoint({
  operationId: 'deleteTask',
  route: 'POST /api/v1/jobs/deleteTask',
  scope: 'content:delete',
  summary: 'Delete the content of a task',
  description: `${scopeOfDeletion} In the console, only owners have this permission.`,
  body: z.strictObject({ taskId: uncheckedIdField.min(1, { error: 'is required' }) }),
  data: deletedTaskSchema,
  failures: ['task_not_found', 'task_not_finished'],
  handler: async ({ caller, input }, deps: DeleteTaskDeps) => {
    return requireDeletion(
      await deleteContentOfEndedTask(deps, await requireOwnTask(deps.db, input.taskId, caller.accountId)),
    );
  },
});

export const deleteTasks = defineEndpoint({
  operationId: 'deleteTasks',
  route: 'POST /api/v1/jobs/deleteTasks',
  scope: 'content:delete',
  summary: 'Delete the content of several tasks',
  description:
    'Deletes what `deleteTask` deletes. Each task is deleted on its own: those that have not ended stay unchanged and have ' +
    '`deleted: false`. Idempotent, so a request that failed can be sent again.',
  body: z.strictObject({ taskIds: taskIdsField }),
  data: outcomesSchemaOf(
    z
      .strictObject({
        taskId: z.string(),
        deleted: z.boolean().meta({ description: 'False if the task has not ended.' }),
        contentDeleteTime: unixMsSchema.nullable(),
      })
      .meta({ id: 'TaskDeletion' }),
  ),
  handler: ({ caller, input }, deps: DeleteTaskDeps) =>
    actOnEachTask(input.taskIds, async (taskId) => {
      const task = await findTask(deps.db, taskId);
      if (task?.accountId !== caller.accountId) return undefined;
      const deletion = await deleteContentOfEndedTask(deps, task);
      return { taskId, deleted: deletion !== undefined, contentDeleteTime: deletion?.contentDeleteTime ?? null };
    }),
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
  handler: async ({ actor, input: { taskId, reason } }, deps: DeleteTaskDeps) => {
    const task = requireExisting(await findTask(deps.db, taskId), 'task_not_found');
    const uploadIds = uploadIdsOf(deps.publicUrl, mediaUrlsOf(task.param.input));
    const deletion = requireDeletion(await deleteTaskContentAs(deps.db, actor, { task, uploadIds, reason }));
    return deleteResultFiles(deps, task, deletion);
  },
});

export function requireDeletion<Deletion>(deletion: Deletion | undefined): Deletion {
  if (deletion !== undefined) return deletion;
  throw new HttpError('task_not_finished', { msg: 'the task has not ended; cancel it first' });
}
