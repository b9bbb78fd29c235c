import type { Router } from '@koa/router';
import { z } from 'zod';
import { isFinal } from '../../domain/task.ts';
import { succeed } from '../envelope.ts';
import { holdUntilEnd } from '../hold-until-end.ts';
import type { HttpDeps } from '../http-deps.ts';
import { authenticateWithTask, type WithTask } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { preferenceApplied, preferHeader, preferWait, type WithWait } from '../middleware/prefer-wait.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateQuery } from '../middleware/validate-query.ts';
import { keyFailures, type Operation } from '../operation.ts';
import { ownTask } from '../own-task.ts';
import { readRecord } from '../read-record.ts';
import type { Context, Extras, RequestState, WithCaller, WithQuery } from '../request-state.ts';
import { taskRecordSchema } from '../task-record-schema.ts';
import { translationOf } from '../translation.ts';

/** `taskId` is opaque to clients: whatever is no id of ours is simply not found. */
const recordInfoQuery = z.object({
  taskId: z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be given once') })
    .min(1, { error: 'is required' }),
});
type Query = z.output<typeof recordInfoQuery>;

export const recordInfoOperation: Operation = {
  operationId: 'recordInfo',
  method: 'get',
  path: '/api/v1/jobs/recordInfo',
  tag: 'tasks',
  summary: 'Query a task',
  description: 'The links in `resultJson.resultUrls` are signed at each reading, so they never come back expired.',
  key: 'tasks:read',
  query: recordInfoQuery,
  headers: preferHeader,
  data: taskRecordSchema,
  answerHeaders: preferenceApplied,
  failures: [...keyFailures, 'no_such_task', 'invalid_request'],
};

/** `GET /api/v1/jobs/recordInfo?taskId=` (spec 4.2): the record of one of the caller's tasks. */
export function recordInfoRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller & WithTask & WithQuery<Query> & WithWait>(
    recordInfoOperation.path,
    checkAnswers(recordInfoOperation, deps.checkAnswers),
    authenticateWithTask(deps),
    limitReads(deps),
    requireScope('tasks:read'),
    validateQuery(recordInfoQuery),
    preferWait,
    (ctx) => recordInfo(ctx, deps),
  );
}

async function recordInfo(ctx: Context<WithCaller & WithTask & WithWait>, deps: HttpDeps): Promise<void> {
  const { task, caller, dialect, waitSeconds } = ctx.state;
  const { noSuchTask, taskRecord } = translationOf(dialect);
  if (task === undefined) throw noSuchTask();
  const { taskId } = task;
  const { accountId } = caller;
  const isHeld = !isFinal(task.state) && (await holdUntilEnd(ctx, deps, { taskId, accountId, waitSeconds }));
  const record = await readRecord(deps, isHeld ? await ownTask(deps.db, taskId, accountId) : task);
  succeed(ctx, taskRecord(record, deps.models));
}
