import type { Router } from '@koa/router';
import { z } from 'zod';
import { listTasks } from '../../stores/task-list.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateQuery } from '../middleware/validate-query.ts';
import { keyFailures, type Operation } from '../operation.ts';
import {
  cutPage,
  limitParameter,
  maxUnixMs,
  nextCursorSchema,
  strictQuery,
  textParameter,
  wholeParameter,
} from '../page-query.ts';
import { readRecord } from '../read-record.ts';
import type { Context, Extras, RequestState, WithCaller, WithQuery } from '../request-state.ts';
import { taskRecordSchema, taskStateSchema } from '../task-record-schema.ts';

const query = strictQuery({
  state: z.enum(taskStateSchema.options, { error: `must be one of ${taskStateSchema.options.join(', ')}` }).optional(),
  model: textParameter('must be the name of a model').max(100, { error: 'must be at most 100 characters' }).optional(),
  from: wholeParameter(0, maxUnixMs).meta({ description: 'Created at this Unix millisecond or later.' }).optional(),
  to: wholeParameter(0, maxUnixMs).meta({ description: 'Created before this Unix millisecond.' }).optional(),
  cursor: z.uuid({ error: 'must be a nextCursor of an earlier answer' }).optional(),
  limit: limitParameter,
});
type Query = z.output<typeof query>;

export const listTasksOperation: Operation = {
  operationId: 'listTasks',
  method: 'get',
  path: '/api/v1/jobs/listTasks',
  tag: 'tasks',
  summary: "List the account's tasks",
  description: 'Newest first. Tasks that are created while you page neither shift nor repeat what follows.',
  key: 'tasks:read',
  query,
  data: z.strictObject({ tasks: z.array(taskRecordSchema), nextCursor: nextCursorSchema }),
  failures: [...keyFailures, 'invalid_request'],
};

/** `GET /api/v1/jobs/listTasks`: the records of the caller's tasks, a page at a time. */
export function listTasksRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller & WithQuery<Query>>(
    listTasksOperation.path,
    checkAnswers(listTasksOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('tasks:read'),
    validateQuery(query),
    (ctx) => listOwnTasks(ctx, deps),
  );
}

async function listOwnTasks(ctx: Context<WithCaller & WithQuery<Query>>, deps: HttpDeps): Promise<void> {
  const { state, model, from: fromMs, to: toMs, cursor: after, limit } = ctx.state.query;
  const { accountId } = ctx.state.caller;
  const found = await listTasks(deps.db, { accountId, state, model, fromMs, toMs, after, limit: limit + 1 });
  const { page, last } = cutPage(found, limit);
  const tasks = await Promise.all(page.map((task) => readRecord(deps, task)));
  succeed(ctx, { tasks, nextCursor: last?.taskId ?? null });
}
