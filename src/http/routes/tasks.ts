import { z } from 'zod';
import { dayMs } from '../../domain/duration.ts';
import { adapterOf } from '../../dialects/dialect.ts';
import { kieRecordSchema } from '../../dialects/kie-record.ts';
import { failOutcome, failOutcomes } from '../../domain/fail-code.ts';
import type { FieldError } from '../../domain/field-errors.ts';
import { type TaskSearch, taskSearch } from '../../domain/task-search.ts';
import { type FailCode, failCodes, finalStates, isFinal, type TaskFailure, taskStates } from '../../domain/task.ts';
import { listTasks, readTaskDetail } from '../../stores/task-list.ts';
import { findMaker } from '../../stores/task-maker.ts';
import { cancelGraceMs, cancelTaskAs, type EndedTask, findTask, refundTask } from '../../stores/tasks.ts';
import { ownTask } from '../authentication.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { existing, HttpError } from '../errors.ts';
import { idField, oneOf, opaqueId, reasonField } from '../fields.ts';
import {
  createdBetweenPage,
  cutPage,
  idParameter,
  nextCursorSchema,
  strictQuery,
  taskIdParameter,
  taskSearchParameter,
  textParameter,
} from '../query.ts';
import type { HttpDeps } from '../http-deps.ts';
import { listedTaskSchema, presentListedTask } from '../presenters/listed-task.ts';
import { presentTask, taskRecordSchema } from '../presenters/task.ts';
import { presentTaskDetail, taskDetailSchema } from '../presenters/task-detail.ts';
import { longPoll, preferenceApplied, preferHeader } from '../tasks/long-poll.ts';

const recordInfo = defineEndpoint({
  operationId: 'recordInfo',
  route: 'GET /api/v1/jobs/recordInfo',
  scope: 'tasks:read',
  readsTask: true,
  summary: 'Query a task',
  description: 'The links in `resultJson.resultUrls` are signed at each reading, so they never come back expired.',
  query: z.object({ taskId: taskIdParameter }),
  headers: preferHeader,
  data: z.union([taskRecordSchema, kieRecordSchema]),
  answerHeaders: preferenceApplied,
  failures: ['task_not_found'],
  handler: async ({ dialect, task, ctx }, deps) => {
    const { unknownTask, taskRecord } = adapterOf(dialect);
    if (task === undefined) throw noSuchTask(unknownTask);
    const isHeld = !isFinal(task.state) && (await longPoll(ctx, deps.taskWaiters, task));
    const now = isHeld ? existing(await deps.taskWaiters.find(task.taskId), 'task_not_found') : task;
    const record = await presentTask(deps, now);
    return taskRecord(record, deps.catalogue().models);
  },
});

function noSuchTask(unknownTask: FieldError | undefined): HttpError {
  if (unknownTask === undefined) return new HttpError('task_not_found');
  return new HttpError('invalid_request', { msg: unknownTask.message, data: { errors: [unknownTask] } });
}

const show = defineEndpoint({
  operationId: 'adminShowTask',
  route: 'GET /api/admin/v1/tasks/show',
  summary: 'Everything that is known of a task',
  description:
    'The record as its account sees it, what was measured of the video, the entries in the ledger, the jobs upstream, and ' +
    'every attempt at its callback with the beginning of the answer. Not for the eyes of clients.',
  query: strictQuery({ taskId: idParameter('a task') }),
  data: taskDetailSchema,
  failures: ['task_not_found'],
  handler: async ({ query }, deps) => {
    const task = existing(await findTask(deps.db, query.taskId), 'task_not_found');
    const [record, detail, maker] = await Promise.all([
      presentTask(deps, task),
      readTaskDetail(deps.db, task.taskId),
      findMaker(deps.db, task.taskId),
    ]);
    return presentTaskDetail(deps, { task, record, detail, maker });
  },
});

const cancelledTaskSchema = z
  .strictObject({
    taskId: z.string(),
    cancelled: z.boolean().meta({ description: 'False when the task had ended in another way before.' }),
    state: z.enum(finalStates),
    failCode: z.enum(failCodes).nullable(),
    creditsRefunded: z.int().nonnegative(),
  })
  .meta({ id: 'CancelledTask' });

const cancelled: TaskFailure = { failCode: 'cancelled', failMsg: 'The task was cancelled.' };

const cancel = defineEndpoint({
  operationId: 'cancelTask',
  route: 'POST /api/v1/jobs/cancelTask',
  // A suspended account may cancel, too: it gets its credits back.
  scope: 'tasks:write',
  summary: 'Cancel a task',
  description:
    'Ends a task that has not ended: it fails with `cancelled`, is refunded in full and generated no further. A task that ' +
    'has ended stays as it is, which the answer says. May be repeated.',
  body: z.strictObject(
    { taskId: opaqueId.min(1, { error: 'is required' }) },
    { error: 'takes taskId and nothing else' },
  ),
  data: cancelledTaskSchema,
  failures: ['task_not_found'],
  handler: async ({ caller, input }, deps) => {
    const { taskId } = await ownTask(deps.db, input.taskId, caller.accountId);
    // The end and the refund are one transaction; the workflow is stopped in the background.
    return ended(await refundTask(deps.db, taskId, cancelled, { terminatesAfterMs: cancelGraceMs }), deps);
  },
});

const adminCancel = defineEndpoint({
  operationId: 'adminCancelTask',
  route: 'POST /api/admin/v1/tasks/cancel',
  summary: 'Cancel a task of any account',
  description:
    'Ends a task that has not ended: it fails with `cancelled`, is refunded in full and generated no further; its callback ' +
    'is sent. A task that has ended stays as it is, which the answer says. The account is not told the reason.',
  body: z.strictObject({ taskId: idField('a task'), reason: reasonField }),
  data: cancelledTaskSchema,
  failures: ['task_not_found'],
  handler: async ({ actor, input }, deps) => {
    existing(await findTask(deps.db, input.taskId), 'task_not_found');
    return ended(await cancelTaskAs(deps.db, actor, input), deps);
  },
});

/** Stops what still runs for a task that has ended; not when it had ended before, for reconcile does it then. */
function ended({ changed, task, hasCallback }: EndedTask, { stopTask, taskEvents }: HttpDeps) {
  const { taskId, accountId, state, failure, creditsRefunded } = task;
  if (state !== 'success' && state !== 'fail') throw new Error(`the task ${taskId} has not ended`);
  if (changed) {
    stopTask({ taskId, accountId, hasCallback });
    taskEvents.ended(task);
  }
  const failCode = failure?.failCode ?? null;
  return { taskId, cancelled: failCode === 'cancelled', state, failCode, creditsRefunded };
}

const listed = 'Newest first. Tasks that are created while you page neither shift nor repeat what follows.';

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

const list = defineEndpoint({
  operationId: 'listTasks',
  route: 'GET /api/v1/jobs/listTasks',
  scope: 'tasks:read',
  summary: "List the account's tasks",
  description: listed,
  query: strictQuery({
    state: oneOf(taskStates).optional(),
    model: modelParameter.optional(),
    ...failureFilter,
    createdBy: idParameter('a key or a person').meta({ description: 'Tasks that this key or person made.' }).optional(),
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

/** So far is searched for what no list is kept of. */
const maxScanMs = 7 * dayMs;

const adminList = defineEndpoint({
  operationId: 'adminListTasks',
  route: 'GET /api/admin/v1/tasks',
  summary: 'List the tasks of all accounts, or of one',
  description:
    `${listed} By \`model\`, \`provider\` or \`search\` and without \`accountId\`, only the ${maxScanMs / dayMs} days before \`to\`, or before ` +
    'now, are searched. Words of prompts are searched within an account only.',
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
  data: z.strictObject({
    tasks: z.array(z.strictObject({ accountId: z.string(), task: listedTaskSchema })),
    nextCursor: nextCursorSchema,
  }),
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
    const tasks = page.map(async (task) => ({ accountId: task.accountId, task: await presentListedTask(deps, task) }));
    return { tasks: await Promise.all(tasks), nextCursor };
  },
});

export const taskEndpoints = [recordInfo, cancel, list];
export const operatorTaskEndpoints = [adminList, show, adminCancel];
