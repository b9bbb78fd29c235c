import type { Router } from '@koa/router';
import { z } from 'zod';
import { type FailedDeliveryCursor, listFailedDeliveries } from '../../../stores/deliveries.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { cutPage, limitParameter, nextCursorSchema, strictQuery, textParameter } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';
import { deliverySchema, shownDelivery } from '../../task-detail-schema.ts';

const cursorError = 'must be a nextCursor of an earlier answer';
const cursorShape = /^(\d{1,16})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const query = strictQuery({
  cursor: textParameter(cursorError).regex(cursorShape, { error: cursorError }).transform(cursorOf).optional(),
  limit: limitParameter,
});
type Query = z.output<typeof query>;

export const listFailedCallbacksOperation: Operation = {
  operationId: 'adminListFailedCallbacks',
  method: 'get',
  path: '/api/admin/v1/callbacks/failed',
  tag: 'operators',
  summary: 'Callbacks of all accounts that did not get through',
  description:
    'Those that were given up (`failed`) or refused for good by their receiver (`gone`), the latest first. One that is sent ' +
    'again leaves the list, and does not disturb paging.',
  key: 'operator',
  query,
  data: z.strictObject({ callbacks: z.array(deliverySchema), nextCursor: nextCursorSchema }),
  failures: [...operatorFailures, 'invalid_request'],
};

/** `GET /api/admin/v1/callbacks/failed`. */
export function listFailedCallbacksRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    listFailedCallbacksOperation.path,
    checkAnswers(listFailedCallbacksOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => listFailed(ctx, deps),
  );
}

async function listFailed(ctx: Context<WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { cursor: after, limit } = ctx.state.query;
  const { page, last } = cutPage(await listFailedDeliveries(db, { after, limit: limit + 1 }), limit);
  const nextCursor = last === undefined ? null : `${last.finishedAtUs}_${last.taskId}`;
  succeed(ctx, { callbacks: page.map(shownDelivery), nextCursor });
}

function cursorOf(text: string): FailedDeliveryCursor {
  const [, finishedAtUs = '', taskId = ''] = cursorShape.exec(text) ?? [];
  return { finishedAtUs: Number(finishedAtUs), taskId };
}
