import { z } from 'zod';
import { cancelTaskAs, findTask } from '../../../stores/tasks.ts';
import { listTasks, readTaskDetail } from '../../../stores/task-list.ts';
import { defineEndpoint } from '../../define-endpoint.ts';
import {
  createdBetween,
  cutPage,
  idField,
  idPage,
  idParameter,
  nextCursorSchema,
  reasonField,
  strictQuery,
} from '../../fields.ts';
import { presentAttempt, presentDelivery } from '../../presenters/callback.ts';
import { presentLedgerEntry } from '../../presenters/account.ts';
import {
  cancelledTaskSchema,
  presentCancelledTask,
  presentTask,
  stateParameter,
  taskRecordSchema,
} from '../../presenters/task.ts';
import { presentProviderJob, taskDetailSchema } from '../../presenters/task-detail.ts';
import { existing } from '../../errors.ts';

const list = defineEndpoint({
  operationId: 'adminListTasks',
  route: 'GET /api/admin/v1/tasks',
  scope: 'operator',
  summary: 'List the tasks of all accounts, or of one',
  description: 'Newest first. Tasks that are created while you page neither shift nor repeat what follows.',
  query: strictQuery({
    accountId: idParameter('an account').optional(),
    state: stateParameter.optional(),
    ...createdBetween,
    ...idPage,
  }),
  data: z.strictObject({
    tasks: z.array(z.strictObject({ accountId: z.string(), task: taskRecordSchema })),
    nextCursor: nextCursorSchema,
  }),
  handler: async ({ query: { accountId, state, from, to, cursor, limit } }, deps) => {
    const filter = { accountId, state, fromMs: from, toMs: to, after: cursor, limit: limit + 1 };
    const { page, nextCursor } = cutPage(await listTasks(deps.db, filter), limit, ({ taskId }) => taskId);
    const tasks = page.map(async (task) => ({ accountId: task.accountId, task: await presentTask(deps, task) }));
    return { tasks: await Promise.all(tasks), nextCursor };
  },
});

const show = defineEndpoint({
  operationId: 'adminShowTask',
  route: 'GET /api/admin/v1/tasks/show',
  scope: 'operator',
  summary: 'Everything that is known of a task',
  description:
    'The record as its account sees it, what was measured of the video, the entries in the ledger, the jobs upstream, and ' +
    'every attempt at its callback with the beginning of the answer. Not for the eyes of clients.',
  query: strictQuery({ taskId: idParameter('a task') }),
  data: taskDetailSchema,
  failures: ['task_not_found'],
  handler: async ({ query }, deps) => {
    const task = existing(await findTask(deps.db, query.taskId), 'task_not_found');
    const { ledger, providerJobs, delivery, attempts } = await readTaskDetail(deps.db, task.taskId);
    return {
      accountId: task.accountId,
      task: await presentTask(deps, task),
      result: task.result ?? null,
      mediaDeleteTime: task.mediaDeletedAt ?? null,
      ledger: ledger.map(presentLedgerEntry),
      providerJobs: providerJobs.map(presentProviderJob),
      callback: delivery === undefined ? null : presentDelivery(delivery),
      attempts: attempts.map(presentAttempt),
    };
  },
});

const cancel = defineEndpoint({
  operationId: 'adminCancelTask',
  route: 'POST /api/admin/v1/tasks/cancel',
  scope: 'operator',
  summary: 'Cancel a task of any account',
  description:
    'Ends a task that has not ended: it fails with `cancelled`, is refunded in full and generated no further; its callback ' +
    'is sent. A task that has ended stays as it is, which the answer says. The account is not told the reason.',
  body: z.strictObject({ taskId: idField('a task'), reason: reasonField }),
  data: cancelledTaskSchema,
  failures: ['task_not_found'],
  handler: async ({ actor, input }, { db, stopTask }) => {
    const { taskId, accountId } = existing(await findTask(db, input.taskId), 'task_not_found');
    const ended = await cancelTaskAs(db, actor, input);
    if (ended.changed) stopTask({ taskId, accountId, hasCallback: ended.hasCallback });
    return presentCancelledTask(ended.task);
  },
});

export const operatorTaskEndpoints = [list, show, cancel];
