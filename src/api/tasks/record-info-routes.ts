import { z } from 'zod';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { dialectAdapter } from '../dialects/native-and-kie-dialects.ts';
import { kieRecordSchema } from '../dialects/kie/kie-record-and-callback.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import { isFinalState } from '../../catalogue/tasks/task.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { ReadTaskDeps } from '../dialects/read-send-and-delete-video.ts';
import { requireExisting, HttpError } from '../core/http-error.ts';
import { taskIdParameter } from '../core/query-parameters.ts';
import { presentTask, type TaskRecordDeps, taskRecordSchema } from './task-view.ts';
import { holdResponseAsPreferred, preferenceAppliedHeaderDoc, preferHeader } from './long-poll.ts';
import type { TaskWaiters } from '../../tasks/task-waiters.ts';
import { findTask } from '../../tasks/task-rows.ts';

type Deps = ReadTaskDeps & WithCatalogueGetter & TaskRecordDeps & { readonly taskWaiters: TaskWaiters };

export const recordInfo = defineEndpoint({
  operationId: 'recordInfo',
  route: 'GET /api/v1/jobs/recordInfo',
  scope: 'tasks:read',
  readsTask: true,
  summary: 'Query a task',
  description: 'Links in `resultJson.resultUrls` are signed for each response.',
  query: z.object({ taskId: taskIdParameter }),
  headers: preferHeader,
  data: z.union([taskRecordSchema, kieRecordSchema]),
  answerHeaders: preferenceAppliedHeaderDoc,
  failures: ['task_not_found'],
  handler: async ({ caller, dialect, task, ctx }, deps: Deps) => {
    const { unknownTask, taskRecord } = dialectAdapter(dialect);
    if (task === undefined) throw taskNotFound(unknownTask);
    const isHeld = !isFinalState(task.state) && (await holdResponseAsPreferred(ctx, deps.taskWaiters, task));
    const now = isHeld ? requireExisting(await findTask(deps.db, task.taskId), 'task_not_found') : task;
    await deps.seenTasks.record(caller.by, [now]);
    const record = await presentTask(deps, now);
    return taskRecord(record, deps.catalogue().models);
  },
});

function taskNotFound(unknownTask: FieldError | undefined): HttpError {
  if (unknownTask === undefined) return new HttpError('task_not_found');
  return new HttpError('invalid_request', { msg: unknownTask.message, data: { errors: [unknownTask] } });
}
