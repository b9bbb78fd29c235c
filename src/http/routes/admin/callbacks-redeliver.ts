import type { Router } from '@koa/router';
import { z } from 'zod';
import { isFinal } from '../../../domain/task.ts';
import { redeliverAs } from '../../../stores/operator-tasks.ts';
import { findTask } from '../../../stores/tasks.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { invalidRequest } from '../../invalid-request.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { idField } from '../../operator-schemas.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';
import { deliverySchema, shownDelivery } from '../../task-detail-schema.ts';

const body = z.strictObject({ taskId: idField('a task') });
type Input = z.output<typeof body>;

export const redeliverAnyCallbackOperation: Operation = {
  operationId: 'adminRedeliverCallback',
  method: 'post',
  path: '/api/admin/v1/callbacks/redeliver',
  tag: 'operators',
  summary: 'Send the callback of a task of any account again',
  description: 'As redeliverCallback does for the account itself.',
  key: 'operator',
  body: () => body,
  data: deliverySchema,
  failures: [...operatorFailures, ...bodyFailures, 'no_such_task', 'callback_not_due'],
};

/** `POST /api/admin/v1/callbacks/redeliver {taskId}`: owes the callback anew; it is sent in the background. */
export function redeliverAnyCallbackRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    redeliverAnyCallbackOperation.path,
    checkAnswers(redeliverAnyCallbackOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => redeliver(ctx, deps),
  );
}

async function redeliver(ctx: Context<WithOperator & WithInput<Input>>, deps: HttpDeps): Promise<void> {
  const task = await findTask(deps.db, ctx.state.input.taskId);
  if (task === undefined) throw new HttpFailure('no_such_task');
  const { taskId, accountId, state, param } = task;
  if (param.callBackUrl === undefined) {
    throw invalidRequest([{ path: 'taskId', message: 'this task was created without callBackUrl' }]);
  }
  if (!isFinal(state)) throw new HttpFailure('callback_not_due');
  const delivery = await redeliverAs(deps.db, actorOf(ctx), taskId);
  if (delivery === undefined) throw new Error(`the ended task ${taskId} has no delivery`);
  deps.redeliver({ taskId, accountId });
  succeed(ctx, shownDelivery(delivery));
}
