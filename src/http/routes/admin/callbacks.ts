import { z } from 'zod';
import { type FailedDeliveryCursor, listFailedDeliveries, redeliverAs } from '../../../stores/deliveries.ts';
import { findTask } from '../../../stores/tasks.ts';
import { defineEndpoint } from '../../define-endpoint.ts';
import { cursorError, cutPage, idField, nextCursorSchema, pageFrom, strictQuery, textParameter } from '../../fields.ts';
import { deliverySchema, presentDelivery } from '../../presenters/callback.ts';
import { sendAgain } from '../callbacks.ts';
import { existing } from '../../errors.ts';

const cursorShape = /^(\d{1,16})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const listFailed = defineEndpoint({
  operationId: 'adminListFailedCallbacks',
  route: 'GET /api/admin/v1/callbacks/failed',
  scope: 'operator',
  summary: 'Callbacks of all accounts that did not get through',
  description:
    'Those that were given up (`failed`) or refused for good by their receiver (`gone`), the latest first. One that is sent ' +
    'again leaves the list, and does not disturb paging.',
  query: strictQuery(
    pageFrom(textParameter(cursorError).regex(cursorShape, { error: cursorError }).transform(cursorOf)),
  ),
  data: z.strictObject({ callbacks: z.array(deliverySchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { cursor: after, limit } }, { db }) => {
    const failed = await listFailedDeliveries(db, { after, limit: limit + 1 });
    const { page, nextCursor } = cutPage(failed, limit, (last) => `${last.finishedAtUs}_${last.taskId}`);
    return { callbacks: page.map(presentDelivery), nextCursor };
  },
});

function cursorOf(text: string): FailedDeliveryCursor {
  const [, finishedAtUs = '', taskId = ''] = cursorShape.exec(text) ?? [];
  return { finishedAtUs: Number(finishedAtUs), taskId };
}

const redeliver = defineEndpoint({
  operationId: 'adminRedeliverCallback',
  route: 'POST /api/admin/v1/callbacks/redeliver',
  scope: 'operator',
  summary: 'Send the callback of a task of any account again',
  description: 'As redeliverCallback does for the account itself.',
  body: z.strictObject({ taskId: idField('a task') }),
  data: deliverySchema,
  failures: ['task_not_found', 'task_not_finished'],
  handler: async ({ actor, input }, deps) => {
    const task = existing(await findTask(deps.db, input.taskId), 'task_not_found');
    return presentDelivery(await sendAgain(task, () => redeliverAs(deps.db, actor, task.taskId), deps));
  },
});

export const operatorCallbackEndpoints = [listFailed, redeliver];
