import { z } from 'zod';
import { cancelTaskAs, type CancelTaskDeps, cancelOwnTask, finishCancellation } from '../../tasks/end/cancel-task.ts';
import { actOnEachTask, outcomesSchemaOf, taskIdsField } from './act-on-many-tasks.ts';
import { failCodes, finalStates } from '../../catalogue/tasks/task.ts';
import { findTask } from '../../tasks/task-rows.ts';
import { requireOwnTask } from '../core/authentication.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting } from '../core/http-error.ts';
import { idField, uncheckedIdField, reasonField } from '../core/request-fields.ts';

const cancelledTaskSchema = z
  .strictObject({
    taskId: z.string(),
    cancelled: z.boolean().meta({ description: 'False if the task had already ended in another way.' }),
    state: z.enum(finalStates),
    failCode: z.enum(failCodes).nullable(),
    creditsRefunded: z.int().nonnegative(),
  })
  .meta({ id: 'CancelledTask' });

export const cancelTask = defineEndpoint({
  operationId: 'cancelTask',
  route: 'POST /api/v1/jobs/cancelTask',
  // Suspended accounts may cancel, too, so it lacks `refusesSuspended`.
  scope: 'tasks:write',
  summary: 'Cancel a task',
  description:
    'Ends an unfinished task with `cancelled`, refunds it in full and stops its generation. A task that has ended stays unchanged. ' +
    'Idempotent.',
  body: z.strictObject(
    { taskId: uncheckedIdField.min(1, { error: 'is required' }) },
    { error: 'must have only the field taskId' },
  ),
  data: cancelledTaskSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, input }, deps: CancelTaskDeps) => {
    const { taskId } = await requireOwnTask(deps.db, input.taskId, caller.accountId);
    return await cancelOwnTask(deps, taskId);
  },
});

const adminCancel = defineEndpoint({
  operationId: 'adminCancelTask',
  route: 'POST /api/admin/v1/tasks/cancel',
  summary: 'Cancel a task of any account',
  description:
    'Ends an unfinished task with `cancelled`, refunds it in full, stops its generation and sends its callback. A task that has ended ' +
    'stays unchanged. The account does not see the reason.',
  body: z.strictObject({ taskId: idField('a task'), reason: reasonField }),
  data: cancelledTaskSchema,
  failures: ['task_not_found'],
  handler: async ({ actor, input }, deps: CancelTaskDeps) => {
    requireExisting(await findTask(deps.db, input.taskId), 'task_not_found');
    return finishCancellation(deps, await cancelTaskAs(deps.db, actor, input));
  },
});

const cancelledTasksSchema = outcomesSchemaOf(cancelledTaskSchema);

const each =
  'Each task is cancelled on its own: those that have ended stay unchanged and have `cancelled: false`. Idempotent, so a request that ' +
  'failed can be sent again.';

const cancelTasks = defineEndpoint({
  operationId: 'cancelTasks',
  route: 'POST /api/v1/jobs/cancelTasks',
  scope: 'tasks:write',
  summary: 'Cancel several tasks',
  description: `Ends unfinished tasks as \`cancelTask\` does. ${each}`,
  body: z.strictObject({ taskIds: taskIdsField }),
  data: cancelledTasksSchema,
  handler: ({ caller, input }, deps: CancelTaskDeps) =>
    actOnEachTask(input.taskIds, async (taskId) => {
      const task = await findTask(deps.db, taskId);
      return task?.accountId === caller.accountId ? cancelOwnTask(deps, taskId) : undefined;
    }),
});

const adminCancelTasks = defineEndpoint({
  operationId: 'adminCancelTasks',
  route: 'POST /api/admin/v1/tasks/cancel-many',
  summary: 'Cancel several tasks of any account',
  description: `Ends unfinished tasks as \`adminCancelTask\` does. The audit log has an entry for each. ${each}`,
  body: z.strictObject({ taskIds: taskIdsField, reason: reasonField }),
  data: cancelledTasksSchema,
  handler: ({ actor, input: { taskIds: ids, reason } }, deps: CancelTaskDeps) =>
    actOnEachTask(ids, async (taskId) => {
      const task = await findTask(deps.db, taskId);
      return task && finishCancellation(deps, await cancelTaskAs(deps.db, actor, { taskId, reason }));
    }),
});

export const cancelEndpoints = [cancelTask, cancelTasks];
export const operatorCancelEndpoints = [adminCancel, adminCancelTasks];
