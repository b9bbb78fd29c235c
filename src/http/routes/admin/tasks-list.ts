import type { Router } from '@koa/router';
import { z } from 'zod';
import type { Task } from '../../../domain/task.ts';
import { listTasks, listTasksOfAll } from '../../../stores/task-list.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { idParameter } from '../../operator-schemas.ts';
import { cutPage, limitParameter, maxUnixMs, nextCursorSchema, strictQuery, wholeParameter } from '../../page-query.ts';
import { readRecord } from '../../read-record.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';
import { taskRecordSchema, taskStateSchema } from '../../task-record-schema.ts';

const query = strictQuery({
  accountId: idParameter('an account').optional(),
  state: z.enum(taskStateSchema.options, { error: `must be one of ${taskStateSchema.options.join(', ')}` }).optional(),
  from: wholeParameter(0, maxUnixMs).meta({ description: 'Created at this Unix millisecond or later.' }).optional(),
  to: wholeParameter(0, maxUnixMs).meta({ description: 'Created before this Unix millisecond.' }).optional(),
  cursor: z.uuid({ error: 'must be a nextCursor of an earlier answer' }).optional(),
  limit: limitParameter,
});
type Query = z.output<typeof query>;

const taskOfAccount = z.strictObject({ accountId: z.string(), task: taskRecordSchema });

export const listAllTasksOperation: Operation = {
  operationId: 'adminListTasks',
  method: 'get',
  path: '/api/admin/v1/tasks',
  tag: 'operators',
  summary: 'List the tasks of all accounts, or of one',
  description: 'Newest first. Tasks that are created while you page neither shift nor repeat what follows.',
  key: 'operator',
  query,
  data: z.strictObject({ tasks: z.array(taskOfAccount), nextCursor: nextCursorSchema }),
  failures: [...operatorFailures, 'invalid_request'],
};

/** `GET /api/admin/v1/tasks`: the records of tasks, a page at a time. */
export function listAllTasksRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    listAllTasksOperation.path,
    checkAnswers(listAllTasksOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => showTasks(ctx, deps),
  );
}

async function showTasks(ctx: Context<WithQuery<Query>>, deps: HttpDeps): Promise<void> {
  const { limit } = ctx.state.query;
  const { page, last } = cutPage(await findTasks(deps, ctx.state.query), limit);
  const tasks = await Promise.all(
    page.map(async (task) => ({ accountId: task.accountId, task: await readRecord(deps, task) })),
  );
  succeed(ctx, { tasks, nextCursor: last?.taskId ?? null });
}

function findTasks({ db }: HttpDeps, { accountId, state, from, to, cursor, limit }: Query): Promise<readonly Task[]> {
  const filter = { state, fromMs: from, toMs: to, after: cursor, limit: limit + 1 };
  return accountId === undefined ? listTasksOfAll(db, filter) : listTasks(db, { accountId, ...filter });
}
