import { isFinal } from '../../domain/task.ts';
import { readTaskDetail } from '../../stores/task-list.ts';
import { countAhead, findMaker } from '../../stores/task-maker.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { existing } from '../errors.ts';
import { presentTimeline, timelineSchema } from '../presenters/timeline.ts';
import { presentTask } from '../presenters/task.ts';
import { strictQuery, taskIdParameter } from '../query.ts';

/** The life of one task, for its account. */
export const showTimeline = defineEndpoint({
  operationId: 'getTaskTimeline',
  route: 'GET /api/v1/jobs/timeline',
  scope: 'tasks:read',
  readsTask: true,
  summary: 'What has become of a task, step by step',
  description:
    'The record, what was measured of the video, each step with its times, the entries in the ledger, and the callback with its ' +
    'attempts. For people to look at; a program has all that it needs in recordInfo. A key without the scope `credits:read` ' +
    'reads no entries of the ledger.',
  query: strictQuery({ taskId: taskIdParameter }),
  data: timelineSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, task: found }, deps) => {
    const task = existing(found, 'task_not_found');
    const isWaiting = !isFinal(task.state) && task.state !== 'generating';
    const [record, detail, maker, ahead] = await Promise.all([
      presentTask(deps, task),
      readTaskDetail(deps.db, task.taskId),
      findMaker(deps.db, task.taskId),
      isWaiting ? countAhead(deps.db, task.taskId) : undefined,
    ]);
    const ledger = caller.scopes.includes('credits:read') ? detail.ledger : [];
    return presentTimeline(deps, { task, record, maker, ahead, ...detail, ledger, nowMs: Date.now() });
  },
});
