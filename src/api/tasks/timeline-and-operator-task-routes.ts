import { findAccount } from '../../accounts/accounts.ts';
import { mediaUrlsOf } from '../../catalogue/input/task-input.ts';
import { isFinalState, type Task } from '../../catalogue/tasks/task.ts';
import { readRecordsOfTask } from '../../tasks/list/read-ledger-jobs-and-callback-of-task.ts';
import { countOwnTasksAhead } from '../../tasks/list/own-tasks-ahead.ts';
import { findTaskCreator } from '../../tasks/list/task-creator.ts';
import { findTask } from '../../tasks/task-rows.ts';
import { uploadPreviewsOf } from '../../media/references/upload-preview-links.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { requireExisting } from '../core/http-error.ts';
import { idParameter, strictQuery, taskIdParameter } from '../core/query-parameters.ts';
import {
  type DetailDeps,
  operatorTaskDetailSchema,
  presentOperatorTaskDetail,
  presentTaskDetail,
  taskDetailSchema,
  type TaskDetailSources,
} from './task-detail-view.ts';
import type { ReadTaskRecorder } from '../../tasks/list/record-tasks-seen.ts';
import { presentTask, type TaskRecordDeps } from './task-view.ts';

type Deps = WithDb & TaskRecordDeps & DetailDeps & { readonly publicUrl: string };

export const showTimeline = defineEndpoint({
  operationId: 'getTaskTimeline',
  route: 'GET /api/v1/jobs/timeline',
  scope: 'tasks:read',
  readsTask: true,
  summary: 'Get the timeline of a task',
  description:
    'Returns the record, steps with their times, ledger entries, and the callback with its attempts. Programs should use recordInfo. ' +
    'Without the scope `credits:read`, `ledger` is empty.',
  query: strictQuery({ taskId: taskIdParameter }),
  data: taskDetailSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, task: found }, deps: Deps & { readonly seenTasks: ReadTaskRecorder }) => {
    const task = requireExisting(found, 'task_not_found');
    const sources = await readSources(deps, task);
    await deps.seenTasks.record(caller.by, [task]);
    const ledger = caller.scopes.includes('credits:read') ? sources.ledger : [];
    return presentTaskDetail(deps, { ...sources, ledger });
  },
});

export const adminShowTask = defineEndpoint({
  operationId: 'adminShowTask',
  route: 'GET /api/admin/v1/tasks/show',
  summary: 'Get all details of a task',
  description:
    'Returns the timeline that the account gets, and in `operator` what clients must not get: upstream jobs, the keys of the stored ' +
    'files, and for each attempt of the callback the network error and the beginning of the response.',
  query: strictQuery({ taskId: idParameter('a task') }),
  data: operatorTaskDetailSchema,
  failures: ['task_not_found'],
  handler: async ({ query }, deps: Deps & { readonly temporalUiUrl: string | undefined }) => {
    const task = requireExisting(await findTask(deps.db, query.taskId), 'task_not_found');
    return presentOperatorTaskDetail(deps, await readSources(deps, task));
  },
});

async function readSources(deps: Deps, task: Task): Promise<TaskDetailSources> {
  const mediaUrls = mediaUrlsOf(task.param.input).map(({ url }) => url);
  const isWaiting = !isFinalState(task.state) && task.state !== 'generating';
  const [record, detail, creator, previews, ahead, account] = await Promise.all([
    presentTask(deps, task),
    readRecordsOfTask(deps.db, task.taskId),
    findTaskCreator(deps.db, task.taskId),
    uploadPreviewsOf(deps, task.accountId, mediaUrls),
    isWaiting ? countOwnTasksAhead(deps.db, task.taskId) : undefined,
    findAccount(deps.db, task.accountId),
  ]);
  return {
    task,
    record,
    creator: creator?.createdBy,
    previews,
    ahead: ahead?.tasks,
    accountName: account?.name,
    ...detail,
    nowMs: Date.now(),
  };
}
