import type { Router } from '@koa/router';
import type { z } from 'zod';
import { readTaskDetail } from '../../../stores/task-detail.ts';
import { findTask } from '../../../stores/tasks.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { shownEntry } from '../../ledger-entry-schema.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { idParameter } from '../../operator-schemas.ts';
import { strictQuery } from '../../page-query.ts';
import { readRecord } from '../../read-record.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';
import { shownAttempt, shownDelivery, shownProviderJob, taskDetailSchema } from '../../task-detail-schema.ts';

const query = strictQuery({ taskId: idParameter('a task') });
type Query = z.output<typeof query>;

export const showTaskOperation: Operation = {
  operationId: 'adminShowTask',
  method: 'get',
  path: '/api/admin/v1/tasks/show',
  tag: 'operators',
  summary: 'Everything that is known of a task',
  description:
    'The record as its account sees it, what was measured of the video, the entries in the ledger, the jobs upstream, and ' +
    'every attempt at its callback with the beginning of the answer. Not for the eyes of clients.',
  key: 'operator',
  query,
  data: taskDetailSchema,
  failures: [...operatorFailures, 'invalid_request', 'no_such_task'],
};

/** `GET /api/admin/v1/tasks/show?taskId=`: what `videogen task show` prints. */
export function showTaskRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    showTaskOperation.path,
    checkAnswers(showTaskOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => showTask(ctx, deps),
  );
}

async function showTask(ctx: Context<WithQuery<Query>>, deps: HttpDeps): Promise<void> {
  const task = await findTask(deps.db, ctx.state.query.taskId);
  if (task === undefined) throw new HttpFailure('no_such_task');
  const { ledger, providerJobs, delivery, attempts } = await readTaskDetail(deps.db, task.taskId);
  succeed(ctx, {
    accountId: task.accountId,
    task: await readRecord(deps, task),
    result: task.result ?? null,
    mediaDeleteTime: task.mediaDeletedAt ?? null,
    ledger: ledger.map(shownEntry),
    providerJobs: providerJobs.map(shownProviderJob),
    callback: delivery === undefined ? null : shownDelivery(delivery),
    attempts: attempts.map(shownAttempt),
  });
}
