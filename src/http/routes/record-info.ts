import type { Router } from '@koa/router';
import { z } from 'zod';
import { taskRecord } from '../../domain/task-record.ts';
import { isFinal, type Task } from '../../domain/task.ts';
import { resultUrls } from '../../media/result-urls.ts';
import type { Database } from '../../stores/database.ts';
import { findTask } from '../../stores/tasks.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateQuery } from '../middleware/validate-query.ts';
import type { Context, Extras, RequestState, WithCaller, WithQuery } from '../request-state.ts';

/** `taskId` is opaque to clients: whatever is no id of ours is simply not found. */
export const recordInfoQuery = z.object({
  taskId: z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be given once') })
    .min(1, { error: 'is required' }),
});
type Query = z.output<typeof recordInfoQuery>;

/** `GET /api/v1/jobs/recordInfo?taskId=` (spec 4.2): the record of one of the caller's tasks. */
export function recordInfoRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller & WithQuery<Query>>(
    '/api/v1/jobs/recordInfo',
    authenticate(deps.db),
    requireScope('tasks:read'),
    validateQuery(recordInfoQuery),
    (ctx) => recordInfo(ctx, deps),
  );
}

async function recordInfo(ctx: Context<WithCaller & WithQuery<Query>>, deps: HttpDeps): Promise<void> {
  // `Prefer: wait=N` belongs here: hold on until the task is final, then read on.
  const task = await ownTask(deps.db, ctx.state.query.taskId, ctx.state.caller.accountId);
  const [progress, urls] = await Promise.all([
    isFinal(task.state) ? 0 : deps.progressOf(task),
    resultUrls(deps.resultStore, task),
  ]);
  succeed(ctx, taskRecord(task, progress, urls));
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The caller's task; another account's and none are the same to it. */
async function ownTask(db: Database, taskId: string, accountId: string): Promise<Task> {
  const task = uuid.test(taskId) ? await findTask(db, taskId) : undefined;
  if (task === undefined || task.accountId !== accountId) throw new HttpFailure('no_such_task');
  return task;
}
