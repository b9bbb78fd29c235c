import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { webhookId } from '../../tasks/callbacks/deliveries.ts';
import { isFinalState, type Task } from '../../catalogue/tasks/task.ts';
import {
  maxListedAttempts,
  requestRedelivery,
  type Delivery,
  deliveryStates,
  findDelivery,
  findDeliveryAttempt,
  listDeliveryAttempts,
  listFailedDeliveries,
  maxAttemptNumber,
  redeliverAs,
  withAttempts,
} from '../../tasks/callbacks/deliveries.ts';
import {
  listOwnCallbacks,
  maxRedelivered,
  makeFailedCallbacksPending,
} from '../../tasks/callbacks/own-deliveries-and-redelivery.ts';
import type { Database } from '../../platform/database/database.ts';
import { findTask } from '../../tasks/task-rows.ts';
import { deletedMessage } from '../../tasks/end/content-placeholders.ts';
import { requireOwnTask } from '../core/authentication.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import { idField, oneOf, uncheckedIdField } from '../core/request-fields.ts';
import {
  cutPage,
  timedCursorText,
  timedPageParameters,
  nextCursorSchema,
  strictQuery,
  taskIdParameter,
  textParameter,
  wholeNumberParameter,
} from '../core/query-parameters.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import {
  attemptDetailsSchema,
  callbackSchema,
  operatorCallbackSchema,
  presentOwnAttemptDetails,
  presentCallback,
  presentOperatorAttemptDetails,
  presentOperatorCallback,
} from './callback-view.ts';
import {
  type RedeliverDeps,
  redeliveredSchema,
  redeliverSinceSchema,
  startRedeliveries,
} from './redeliver-callbacks-and-events.ts';
import { callbackSecretEndpoints } from './signing-secret-routes.ts';

const list = defineEndpoint({
  operationId: 'listCallbacks',
  route: 'GET /api/v1/callbacks',
  scope: 'tasks:read',
  summary: 'List callbacks and their attempts',
  description:
    'With `taskId`, lists the callback of one task: none before the task ends, or without `callBackUrl`. Otherwise, lists all callbacks of ' +
    `the account, newest first, each with its latest ${maxListedAttempts} attempts.`,
  query: strictQuery({
    taskId: taskIdParameter.optional(),
    state: oneOf(deliveryStates).optional(),
    ...timedPageParameters,
  }),
  data: z.strictObject({ callbacks: z.array(callbackSchema), nextCursor: nextCursorSchema }),
  failures: ['task_not_found'],
  handler: async ({ caller: { accountId }, query }, { db }) => {
    const { taskId, state, cursor: after, limit } = query;
    const nowMs = Date.now();
    if (taskId !== undefined && (state ?? after) !== undefined) {
      throw invalidRequest([{ path: 'taskId', message: 'must not be combined with state or cursor' }]);
    }
    if (taskId !== undefined)
      return { callbacks: await callbacksOfTask(db, { taskId, accountId, nowMs }), nextCursor: null };
    const found = await listOwnCallbacks(db, { accountId, state, after, limit: limit + 1, nowMs });
    const { page, nextCursor } = cutPage(found, limit, cursorOf);
    const listed = await withAttempts(db, page);
    return { callbacks: listed.map((one) => presentCallback(one, one.attempts, nowMs)), nextCursor };
  },
});

function cursorOf({ atUs, deliveryId: id }: { readonly atUs: number; readonly deliveryId: string }): string {
  return timedCursorText({ atUs, id });
}

type OneTask = { readonly taskId: string; readonly accountId: string; readonly nowMs: number };

async function callbacksOfTask(db: Database, { taskId: requested, accountId, nowMs }: OneTask) {
  const { taskId } = await requireOwnTask(db, requested, accountId);
  const delivery = await findDelivery(db, taskId);
  return delivery === undefined ? [] : [presentCallback(delivery, await listDeliveryAttempts(db, taskId), nowMs)];
}

const attemptQuery = strictQuery({
  deliveryId: textParameter('is required')
    .min(1)
    .meta({ description: 'The `taskId` of a callback, or the `eventId` of an event.' }),
  attempt: wholeNumberParameter(1, maxAttemptNumber).optional().meta({ description: 'The latest one by default.' }),
});

const showAttempt = defineEndpoint({
  operationId: 'getCallbackAttempt',
  route: 'GET /api/v1/callbacks/attempt',
  scope: 'tasks:read',
  summary: 'Get the request and response of an attempt',
  description:
    'Returns what an attempt at a callback or an event sent, and the beginning of its response. Values of signatures are hidden, and so are ' +
    'responses of receivers that only this installation can reach.',
  query: attemptQuery,
  data: attemptDetailsSchema,
  failures: ['attempt_not_found'],
  handler: async ({ caller: { accountId }, query }, { db }) => {
    const { delivery, attempt } = await recordedAttempt(db, query);
    const own = delivery.accountId === accountId ? presentOwnAttemptDetails(delivery, attempt, Date.now()) : undefined;
    return requireExisting(own, 'attempt_not_found');
  },
});

const adminShowAttempt = defineEndpoint({
  operationId: 'adminGetCallbackAttempt',
  route: 'GET /api/admin/v1/callbacks/attempt',
  summary: 'Get the request and response of an attempt of any account',
  query: attemptQuery,
  data: attemptDetailsSchema,
  failures: ['attempt_not_found'],
  handler: async ({ query }, { db }) => {
    const { delivery, attempt } = await recordedAttempt(db, query);
    return presentOperatorAttemptDetails(delivery, attempt);
  },
});

async function recordedAttempt(db: Database, { deliveryId, attempt: number }: z.output<typeof attemptQuery>) {
  if (!isUuid(deliveryId)) throw new HttpError('attempt_not_found');
  const delivery = requireExisting(await findDelivery(db, deliveryId), 'attempt_not_found');
  const attempt = requireExisting(await findDeliveryAttempt(db, deliveryId, number), 'attempt_not_found');
  return { delivery, attempt };
}

const redeliverAll = defineEndpoint({
  operationId: 'redeliverFailedCallbacks',
  route: 'POST /api/v1/callbacks/redeliver-failed',
  scope: 'tasks:write',
  summary: 'Redeliver failed callbacks',
  description:
    'Redelivers every callback in the state `failed` of a task that ended at `since` or later, for instance after an outage of the ' +
    `receiver. Sends at most ${maxRedelivered} per request, oldest first: repeat the request while \`hasMore\` is true.`,
  body: redeliverSinceSchema,
  data: redeliveredSchema,
  handler: async ({ caller: { accountId }, input }, deps: WithDb & RedeliverDeps) => {
    const owed = await makeFailedCallbacksPending(deps.db, { accountId, sinceMs: input.since, nowMs: Date.now() });
    return startRedeliveries(owed, accountId, deps);
  },
});

const adminListFailed = defineEndpoint({
  operationId: 'adminListFailedCallbacks',
  route: 'GET /api/admin/v1/callbacks/failed',
  summary: 'List undelivered callbacks and events of all accounts',
  description:
    'Lists callbacks and events that failed (`failed`) or were rejected by their receiver with 410 (`rejected`), newest first. A redelivery removes ' +
    `one from the list without affecting paging. Each has its latest ${maxListedAttempts} attempts.`,
  query: strictQuery(timedPageParameters),
  data: z.strictObject({ callbacks: z.array(operatorCallbackSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { cursor: after, limit } }, { db }) => {
    const failed = await listFailedDeliveries(db, { after, limit: limit + 1 });
    const { page, nextCursor } = cutPage(failed, limit, cursorOf);
    const listed = await withAttempts(db, page);
    return { callbacks: listed.map((one) => presentOperatorCallback(one, one.attempts)), nextCursor };
  },
});

const redeliver = defineEndpoint({
  operationId: 'redeliverCallback',
  route: 'POST /api/v1/callbacks/redeliver',
  scope: 'tasks:write',
  summary: 'Redeliver a callback',
  description:
    'Sends the callback of an ended task now, in any state of its delivery, and retries for three days or until the receiver responds with 2xx ' +
    'or 410. The `webhook-id` stays the same; the body is the current record.',
  body: z.strictObject({ taskId: uncheckedIdField }),
  data: z.strictObject({ taskId: z.string(), webhookId: z.string() }),
  failures: ['task_not_found', 'task_not_finished', 'content_deleted'],
  handler: async ({ caller, input }, deps: WithDb & RedeliverDeps) => {
    const task = await requireOwnTask(deps.db, input.taskId, caller.accountId);
    const { deliveryId: taskId } = await sendAgain(task, () => requestRedelivery(deps.db, task.taskId), deps);
    return { taskId, webhookId: webhookId(taskId) };
  },
});

async function sendAgain(
  { taskId, accountId, param, state, contentDeletedAt }: Task,
  request: () => Promise<Delivery | undefined>,
  deps: RedeliverDeps,
): Promise<Delivery> {
  if (contentDeletedAt !== undefined) throw new HttpError('content_deleted', { msg: deletedMessage });
  if (param.callBackUrl === undefined) {
    throw invalidRequest([{ path: 'taskId', message: 'this task was created without callBackUrl' }]);
  }
  if (!isFinalState(state)) throw new HttpError('task_not_finished');
  const delivery = await request();
  // A deletion of the content was committed in the meantime, and has deleted the delivery.
  if (delivery === undefined) throw new HttpError('content_deleted', { msg: deletedMessage });
  deps.redeliver({ deliveryId: taskId, accountId });
  return delivery;
}

const adminRedeliver = defineEndpoint({
  operationId: 'adminRedeliverCallback',
  route: 'POST /api/admin/v1/callbacks/redeliver',
  summary: 'Redeliver a callback of any account',
  body: z.strictObject({ taskId: idField('a task') }),
  data: operatorCallbackSchema,
  failures: ['task_not_found', 'task_not_finished', 'content_deleted'],
  handler: async ({ actor, input }, deps: WithDb & RedeliverDeps) => {
    const task = requireExisting(await findTask(deps.db, input.taskId), 'task_not_found');
    const delivery = await sendAgain(task, () => redeliverAs(deps.db, actor, task.taskId), deps);
    return presentOperatorCallback(delivery, await listDeliveryAttempts(deps.db, task.taskId));
  },
});

export const callbackEndpoints = [list, showAttempt, redeliver, redeliverAll, ...callbackSecretEndpoints];
export const operatorCallbackEndpoints = [adminListFailed, adminShowAttempt, adminRedeliver];
