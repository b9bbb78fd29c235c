import type { Router } from '@koa/router';
import { z } from 'zod';
import { callbackTimeoutMs } from '../../domain/callback-schedule.ts';
import { webhookId } from '../../domain/webhook-id.ts';
import { type Delivery, type DeliveryAttempt, findDelivery, listDeliveryAttempts } from '../../stores/deliveries.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateQuery } from '../middleware/validate-query.ts';
import { keyFailures, type Operation } from '../operation.ts';
import { ownTask } from '../own-task.ts';
import { strictQuery, textParameter } from '../page-query.ts';
import type { Context, Extras, RequestState, WithCaller, WithQuery } from '../request-state.ts';

const query = strictQuery({ taskId: textParameter('is required').min(1, { error: 'is required' }) });
type Query = z.output<typeof query>;

const unixMs = z.int().nonnegative().meta({ description: 'Unix milliseconds.' });

const attemptSchema = z.strictObject({
  attempt: z.int().positive(),
  startTime: unixMs.meta({ description: 'Unix milliseconds, in whole seconds.' }),
  status: z.int().nullable().meta({ description: 'What the receiver answered; null when it could not be reached.' }),
  durationMs: z.int().nonnegative().nullable(),
  // Not a literal, whose description would leave out the null.
  error: z.enum(['unreachable']).nullable(),
});

const callbackSchema = z.strictObject({
  taskId: z.string(),
  webhookId: z.string().meta({ description: 'The `webhook-id` header, the same at every attempt.' }),
  url: z.string(),
  state: z.enum(['pending', 'delivered', 'failed', 'gone']),
  createTime: unixMs,
  completeTime: unixMs.nullable(),
  nextAttemptTime: unixMs
    .nullable()
    .meta({ description: 'The next attempt begins by then; null when there is none, or one is due.' }),
  attempts: z.array(attemptSchema).meta({ description: 'Newest first, at most 100.' }),
});

export const listCallbacksOperation: Operation = {
  operationId: 'listCallbacks',
  method: 'get',
  path: '/api/v1/callbacks',
  tag: 'callbacks',
  summary: 'How the callback of a task was delivered',
  description: 'Empty while the task runs, and for a task that was created without `callBackUrl`.',
  key: 'tasks:read',
  query,
  data: z.strictObject({ callbacks: z.array(callbackSchema.meta({ id: 'Callback' })) }),
  failures: [...keyFailures, 'no_such_task', 'invalid_request'],
};

/** `GET /api/v1/callbacks?taskId=`: the deliveries of a task's callback, one at most, with their attempts. */
export function listCallbacksRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller & WithQuery<Query>>(
    listCallbacksOperation.path,
    checkAnswers(listCallbacksOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('tasks:read'),
    validateQuery(query),
    (ctx) => listCallbacks(ctx, deps),
  );
}

async function listCallbacks(ctx: Context<WithCaller & WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { taskId } = await ownTask(db, ctx.state.query.taskId, ctx.state.caller.accountId);
  const delivery = await findDelivery(db, taskId);
  if (delivery === undefined) return succeed(ctx, { callbacks: [] });
  succeed(ctx, { callbacks: [callbackOf(delivery, await listDeliveryAttempts(db, taskId), Date.now())] });
}

/**
 * Every network fault is the same word, and nothing tells how long it took, not even when it appears here: whoever could tell
 * `blocked` from `connect` or `timeout` could scan our private network by creating tasks. So an attempt without a status counts
 * as under way for as long as one may take. The receiver's answer is for operators, for the same reason.
 */
function callbackOf(delivery: Delivery, attempts: readonly DeliveryAttempt[], now: number) {
  const { taskId, url, createdAt, finishedAt, dueAt } = delivery;
  const shown = attempts.filter(
    ({ status, startedAt }) => status !== undefined || startedAt + callbackTimeoutMs <= now,
  );
  const state = delivery.state === 'failed' && shown.length < attempts.length ? 'pending' : delivery.state;
  // After a failure it is the latest moment at which the last attempt could have ended.
  const completedAt = state === 'failed' ? wholeSeconds(dueAt) : finishedAt;
  const isWaiting = state === 'pending' && shown.length === attempts.length && dueAt > now;
  return {
    taskId,
    webhookId: webhookId(taskId),
    url,
    state,
    createTime: createdAt,
    completeTime: state === 'pending' ? null : (completedAt ?? null),
    nextAttemptTime: isWaiting ? wholeSeconds(dueAt) : null,
    attempts: shown.map(attemptOf),
  };
}

function attemptOf({ attempt, startedAt, durationMs, status }: DeliveryAttempt) {
  return {
    attempt,
    startTime: wholeSeconds(startedAt),
    status: status ?? null,
    durationMs: status === undefined ? null : durationMs,
    error: status === undefined ? ('unreachable' as const) : null,
  };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}
