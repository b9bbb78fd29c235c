import type { Router } from '@koa/router';
import { z } from 'zod';
import { isFinal } from '../../../domain/task.ts';
import { cancelTaskAs } from '../../../stores/operator-tasks.ts';
import { findTask } from '../../../stores/tasks.ts';
import { cancelledTaskSchema, shownCancelled } from '../../cancelled-task.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { idField, reasonField } from '../../operator-schemas.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';

const body = z.strictObject({ taskId: idField('a task'), reason: reasonField });
type Input = z.output<typeof body>;

export const cancelAnyTaskOperation: Operation = {
  operationId: 'adminCancelTask',
  method: 'post',
  path: '/api/admin/v1/tasks/cancel',
  tag: 'operators',
  summary: 'Cancel a task of any account',
  description:
    'Ends a task that has not ended: it fails with `cancelled`, is refunded in full and generated no further; its callback ' +
    'is sent. A task that has ended stays as it is, which the answer says. The account is not told the reason.',
  key: 'operator',
  body: () => body,
  data: cancelledTaskSchema,
  failures: [...operatorFailures, ...bodyFailures, 'no_such_task'],
};

/** `POST /api/admin/v1/tasks/cancel {taskId, reason}`. */
export function cancelAnyTaskRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    cancelAnyTaskOperation.path,
    checkAnswers(cancelAnyTaskOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => cancelTask(ctx, deps),
  );
}

async function cancelTask(ctx: Context<WithOperator & WithInput<Input>>, deps: HttpDeps): Promise<void> {
  const { input } = ctx.state;
  const task = await findTask(deps.db, input.taskId);
  if (task === undefined) throw new HttpFailure('no_such_task');
  if (isFinal(task.state)) return succeed(ctx, shownCancelled(task));
  const ended = await cancelTaskAs(deps.db, actorOf(ctx), input);
  deps.stopTask({ taskId: task.taskId, accountId: task.accountId, hasCallback: ended.hasCallback });
  succeed(ctx, shownCancelled(ended.task));
}
