import type { Router } from '@koa/router';
import { z } from 'zod';
import { isFinal, type TaskFailure } from '../../domain/task.ts';
import { cancelGraceMs, type EndedTask, refundTask } from '../../stores/end-task.ts';
import { cancelledTaskSchema, shownCancelled } from '../cancelled-task.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { readJson } from '../middleware/read-json.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateBody, type WithInput } from '../middleware/validate-body.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import { ownTask } from '../own-task.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';

/** `taskId` is opaque to clients: whatever is no id of ours is simply not found. */
const cancelTaskBody = z.strictObject(
  { taskId: z.string({ error: 'is required, as a string' }).min(1, { error: 'is required' }) },
  { error: 'takes taskId and nothing else' },
);
type Input = z.output<typeof cancelTaskBody>;

export const cancelTaskOperation: Operation = {
  operationId: 'cancelTask',
  method: 'post',
  path: '/api/v1/jobs/cancelTask',
  tag: 'tasks',
  summary: 'Cancel a task',
  description:
    'Ends a task that has not ended: it fails with `cancelled`, is refunded in full and generated no further. A task that ' +
    'has ended stays as it is, which the answer says. May be repeated.',
  key: 'tasks:write',
  body: () => cancelTaskBody,
  data: cancelledTaskSchema,
  failures: [...keyFailures, ...bodyFailures, 'no_such_task'],
};

/** `POST /api/v1/jobs/cancelTask {taskId}`: refunds one of the caller's tasks and stops it. A suspended account may do so too. */
export function cancelTaskRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithInput<Input>>(
    cancelTaskOperation.path,
    checkAnswers(cancelTaskOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('tasks:write'),
    readJson,
    validateBody(cancelTaskBody),
    (ctx) => cancelTask(ctx, deps),
  );
}

const failure: TaskFailure = { failCode: 'cancelled', failMsg: 'The task was cancelled.' };

/** The end and the refund are one transaction here; stopping the workflow follows behind the answer. */
async function cancelTask(ctx: Context<WithCaller & WithInput<Input>>, deps: HttpDeps): Promise<void> {
  const { caller, input } = ctx.state;
  const task = await ownTask(deps.db, input.taskId, caller.accountId);
  const ended = isFinal(task.state)
    ? undefined
    : await refundTask(deps.db, task.taskId, failure, { terminatesAfterMs: cancelGraceMs });
  // Not for a task that had ended before, by an earlier request or otherwise: reconcile stops what that one left running.
  if (ended !== undefined) stop(deps, ended);
  succeed(ctx, shownCancelled(ended?.task ?? task));
}

function stop(deps: HttpDeps, { task: { taskId, accountId }, hasCallback }: EndedTask): void {
  deps.stopTask({ taskId, accountId, hasCallback });
}
