import { z } from 'zod';
import { dayMs } from '../platform/duration.ts';
import { adapterOf } from '../ingress/dialect.ts';
import { kieRecordSchema } from '../ingress/kie/kie-record.ts';
import { failOutcome, failOutcomes } from './fail-code.ts';
import type { FieldError } from '../platform/field-errors.ts';
import { type TaskSearch, taskSearch } from './task-search.ts';
import { stopEndedTask, cancelTaskFor } from './cancel-task.ts';
import { type FailCode, failCodes, finalStates, isFinal, taskStates } from './task.ts';
import { listTasks } from './task-list.ts';
import { cancelTaskAs, findTask } from './tasks.ts';
import { ownTask } from '../http/authentication.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { existing, HttpError } from '../http/errors.ts';
import { idField, oneOf, opaqueId, reasonField } from '../http/fields.ts';
import {
  createdBetweenPage,
  cutPage,
  idParameter,
  nextCursorSchema,
  strictQuery,
  taskIdParameter,
  taskSearchParameter,
  textParameter,
} from '../http/query.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import {
  listedTaskSchema,
  operatorListedTaskSchema,
  presentListedTask,
  presentOperatorListedTask,
  presentTask,
  taskRecordSchema,
} from './task-view.ts';
import { longPoll, preferenceApplied, preferHeader } from './long-poll.ts';

const recordInfo = defineEndpoint({
  operationId: 'recordInfo',
  route: 'GET /api/v1/jobs/recordInfo',
  scope: 'tasks:read',
  readsTask: true,
  summary: 'Query a task',
  description: 'Links in `resultJson.resultUrls` are signed for each response.',
  query: z.object({ taskId: taskIdParameter }),
  headers: preferHeader,
  data: z.union([taskRecordSchema, kieRecordSchema]),
  answerHeaders: preferenceApplied,
  failures: ['task_not_found'],
  handler: async ({ dialect, task, ctx }, deps) => {
    const { unknownTask, taskRecord } = adapterOf(dialect);
    if (task === undefined) throw taskNotFound(unknownTask);
    const isHeld = !isFinal(task.state) && (await longPoll(ctx, deps.taskWaiters, task));
    const now = isHeld ? existing(await deps.taskWaiters.find(task.taskId), 'task_not_found') : task;
    const record = await presentTask(deps, now);
    return taskRecord(record, deps.catalogue().models);
  },
});

function taskNotFound(unknownTask: FieldError | undefined): HttpError {
  if (unknownTask === undefined) return new HttpError('task_not_found');
  return new HttpError('invalid_request', { msg: unknownTask.message, data: { errors: [unknownTask] } });
}

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
  // Suspended accounts may cancel, too.
  scope: 'tasks:write',
  summary: 'Cancel a task',
  description:
    'Ends an unfinished task with `cancelled`, refunds it in full and stops its generation. A task that has ended stays unchanged. ' +
    'Idempotent.',
  body: z.strictObject(
    { taskId: opaqueId.min(1, { error: 'is required' }) },
    { error: 'must have only the field taskId' },
  ),
  data: cancelledTaskSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, input }, deps) => {
    const { taskId } = await ownTask(deps.db, input.taskId, caller.accountId);
    return await cancelTaskFor(deps, taskId);
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
  handler: async ({ actor, input }, deps) => {
    existing(await findTask(deps.db, input.taskId), 'task_not_found');
    return stopEndedTask(deps, await cancelTaskAs(deps.db, actor, input));
  },
});

const listed = 'Lists tasks newest first. Tasks created while you page do not shift later pages.';

const modelParameter = textParameter('must be the name of a model').max(100, {
  error: 'must be at most 100 characters',
});

const failureFilter = {
  failCode: oneOf(failCodes).meta({ description: 'Failed tasks with this code.' }).optional(),
  outcome: oneOf(failOutcomes)
    .meta({
      description:
        'Failed tasks that the client cancelled (`cancelled`), whose prompt or image was rejected (`rejected`), or that ' +
        'failed for any other reason (`failed`).',
    })
    .optional(),
};

type FailureFilter = z.output<z.ZodObject<typeof failureFilter>>;

function failCodesOf({ failCode, outcome }: FailureFilter): readonly FailCode[] | undefined {
  if (failCode === undefined && outcome === undefined) return undefined;
  return failCodes.filter(
    (code) => (failCode ?? code) === code && (outcome === undefined || failOutcome(code) === outcome),
  );
}

export const listTasksOfAccount = defineEndpoint({
  operationId: 'listTasks',
  route: 'GET /api/v1/jobs/listTasks',
  scope: 'tasks:read',
  summary: "List the account's tasks",
  description: listed,
  query: strictQuery({
    state: oneOf(taskStates).optional(),
    model: modelParameter.optional(),
    ...failureFilter,
    createdBy: idParameter('a key or a person')
      .meta({ description: 'The key or person that created the task.' })
      .optional(),
    search: taskSearchParameter.optional(),
    ...createdBetweenPage,
  }),
  data: z.strictObject({ tasks: z.array(listedTaskSchema), nextCursor: nextCursorSchema }),
  handler: async ({ caller: { accountId }, query }, deps) => {
    const { from: fromMs, to: toMs, cursor: after, limit, search: text, state, model, createdBy } = query;
    const search = searchFor(text, deps);
    const filter = {
      accountId,
      state,
      model,
      createdBy,
      failCodes: failCodesOf(query),
      search,
      fromMs,
      toMs,
      after,
      limit: limit + 1,
    };
    const { page, nextCursor } = cutPage(await listTasks(deps.db, filter), limit, ({ taskId }) => taskId);
    return { tasks: await Promise.all(page.map((task) => presentListedTask(deps, task))), nextCursor };
  },
});

function searchFor(text: string | undefined, { searchesPrompts }: HttpDeps): TaskSearch | undefined {
  return text === undefined ? undefined : taskSearch(text, { searchesPrompts });
}

/** Bounds searches without an index. */
const maxScanMs = 7 * dayMs;

const adminList = defineEndpoint({
  operationId: 'adminListTasks',
  route: 'GET /api/admin/v1/tasks',
  summary: 'List tasks of all accounts',
  description:
    `${listed} Without \`accountId\`, filters by \`model\`, \`provider\` or \`search\` cover only the ${maxScanMs / dayMs} days before \`to\`, ` +
    'or before now. Words of prompts require an `accountId`.',
  query: strictQuery({
    accountId: idParameter('an account').optional(),
    state: oneOf(taskStates).optional(),
    model: modelParameter.optional(),
    ...failureFilter,
    provider: textParameter('must be the name of a provider')
      .max(100)
      .meta({ description: 'Tasks with a job at this provider.' })
      .optional(),
    search: taskSearchParameter.optional(),
    ...createdBetweenPage,
  }),
  data: z.strictObject({ tasks: z.array(operatorListedTaskSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query }, deps) => {
    const { from = 0, to: toMs, cursor: after, limit, search: text, ...others } = query;
    const { accountId, state, model, provider } = others;
    const isWholeId = z.uuid().safeParse(text).success;
    const isScan = accountId === undefined && !isWholeId && (model ?? provider ?? text) !== undefined;
    const search = searchFor(text, deps);
    const fromMs = isScan ? Math.max(from, (toMs ?? Date.now()) - maxScanMs) : from;
    const filter = {
      accountId,
      state,
      model,
      provider,
      failCodes: failCodesOf(query),
      search,
      fromMs,
      toMs,
      after,
      limit: limit + 1,
    };
    const { page, nextCursor } = cutPage(await listTasks(deps.db, filter), limit, ({ taskId }) => taskId);
    return { tasks: await Promise.all(page.map((task) => presentOperatorListedTask(deps, task))), nextCursor };
  },
});

export const taskEndpoints = [recordInfo, cancelTask, listTasksOfAccount];
export const operatorTaskEndpoints = [adminList, adminCancel];
