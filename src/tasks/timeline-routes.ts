import { isFinal } from './task.ts';
import { readTaskDetail } from './task-list.ts';
import { countAhead, findMaker } from './task-maker.ts';
import { uploadPreviews } from '../media/upload-previews.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { existing } from '../http/errors.ts';
import { presentTimeline, timelineSchema } from './timeline-view.ts';
import { presentTask } from './task-view.ts';
import { strictQuery, taskIdParameter } from '../http/query.ts';

export const showTimeline = defineEndpoint({
  operationId: 'getTaskTimeline',
  route: 'GET /api/v1/jobs/timeline',
  scope: 'tasks:read',
  readsTask: true,
  summary: 'Get the timeline of a task',
  description:
    'Returns the record, the measured video, steps with their times, ledger entries, and the callback with its attempts. Programs ' +
    'should use recordInfo. Without the scope `credits:read`, `ledger` is empty.',
  query: strictQuery({ taskId: taskIdParameter }),
  data: timelineSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, task: found }, deps) => {
    const task = existing(found, 'task_not_found');
    const isWaiting = !isFinal(task.state) && task.state !== 'generating';
    const [record, detail, maker, previews, ahead] = await Promise.all([
      presentTask(deps, task),
      readTaskDetail(deps.db, task.taskId),
      findMaker(deps.db, task.taskId),
      uploadPreviews(deps, task.accountId, task.param.input),
      isWaiting ? countAhead(deps.db, task.taskId) : undefined,
    ]);
    const ledger = caller.scopes.includes('credits:read') ? detail.ledger : [];
    return presentTimeline(deps, { task, record, maker, previews, ahead, ...detail, ledger, nowMs: Date.now() });
  },
});
