import type { Router } from '@koa/router';
import { z } from 'zod';
import { isFinal } from '../../domain/task.ts';
import { webhookId } from '../../domain/webhook-id.ts';
import { askForRedelivery } from '../../stores/deliveries.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { invalidRequest } from '../invalid-request.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { readJson } from '../middleware/read-json.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateBody, type WithInput } from '../middleware/validate-body.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import { ownTask } from '../own-task.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';

const body = z.strictObject({
  taskId: z.string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a string') }),
});
type Input = z.output<typeof body>;

export const redeliverCallbackOperation: Operation = {
  operationId: 'redeliverCallback',
  method: 'post',
  path: '/api/v1/callbacks/redeliver',
  tag: 'callbacks',
  summary: 'Send the callback of a task again',
  description:
    'Sends it now, however it stood, and tries again over three days until the receiver answers 2xx or 410. The ' +
    '`webhook-id` is the same as before; the body is what recordInfo answers at that moment.',
  key: 'tasks:write',
  body: () => body,
  data: z.strictObject({ taskId: z.string(), webhookId: z.string() }),
  failures: [...keyFailures, ...bodyFailures, 'no_such_task', 'callback_not_due'],
};

/** `POST /api/v1/callbacks/redeliver {taskId}`: owes the callback anew; it is sent in the background. */
export function redeliverCallbackRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithInput<Input>>(
    redeliverCallbackOperation.path,
    checkAnswers(redeliverCallbackOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('tasks:write'),
    readJson,
    validateBody(body),
    (ctx) => redeliverCallback(ctx, deps),
  );
}

async function redeliverCallback(ctx: Context<WithCaller & WithInput<Input>>, deps: HttpDeps): Promise<void> {
  const { caller, input } = ctx.state;
  const { taskId, accountId, state, param } = await ownTask(deps.db, input.taskId, caller.accountId);
  if (param.callBackUrl === undefined) {
    throw invalidRequest([{ path: 'taskId', message: 'this task was created without callBackUrl' }]);
  }
  if (!isFinal(state)) throw new HttpFailure('callback_not_due');
  const delivery = await askForRedelivery(deps.db, taskId);
  if (delivery === undefined) throw new Error(`the ended task ${taskId} has no delivery`);
  deps.redeliver({ taskId, accountId });
  succeed(ctx, { taskId, webhookId: webhookId(taskId) });
}
