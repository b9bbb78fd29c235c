import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { adapterOf } from '../ingress/dialect.ts';
import { kieCreatedSchema, kieRecordSchema } from '../ingress/kie-record.ts';
import type { Acceptance, NewTask } from './acceptance.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import type { Call } from '../http/endpoint.ts';
import { HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { idempotencyKeyHeader, idempotencyKeyOf, replayedHeader } from '../http/idempotency-key.ts';
import { rateHeaders, refusalHeaders } from '../http/limits/rate-headers.ts';
import { presentTask, taskRecordSchema } from './task-view.ts';
import { anyJson, readTaskRequest } from './read-task-request.ts';
import { taskTerms } from './task-terms.ts';
import { acceptWithRetry } from './accept-with-retry.ts';
import { longPoll, preferenceApplied, preferHeader } from './long-poll.ts';

type CreateCall = Pick<Call<'tasks:write', undefined, typeof anyJson>, 'caller' | 'dialect' | 'input' | 'ctx'>;

const created = z.strictObject({ taskId: z.string(), creditsCharged: z.int().positive() }).meta({ id: 'CreatedTask' });

export const createTask = defineEndpoint({
  operationId: 'createTask',
  route: 'POST /api/v1/jobs/createTask',
  scope: 'tasks:write',
  createsTask: true,
  refusesSuspended: true,
  summary: 'Create a task',
  description:
    'Creates a task and charges it. The response means that the task was accepted, not that it has ended. Failed tasks are refunded in ' +
    'full. Send an `Idempotency-Key` to repeat a request safely. Unknown fields are rejected. With `Prefer: wait=N` and the scope ' +
    '`tasks:read`, the response is held and contains the record.',
  headers: preferHeader.extend(idempotencyKeyHeader.shape),
  body: anyJson,
  data: z.union([created, taskRecordSchema, kieCreatedSchema, kieRecordSchema]),
  answerHeaders: { ...preferenceApplied, ...replayedHeader },
  failures: [
    'insufficient_credits',
    'idempotency_key_reused',
    'content_deleted',
    'too_many_unfinished_tasks',
    'model_unavailable',
    'acceptance_unknown',
    'acceptance_reverted',
  ],
  handler: async (call, deps) => {
    const { caller, dialect, ctx } = call;
    const task = await newTask(call, deps);
    const acceptance = accepted(await acceptWithRetry(deps, task));
    const { taskId, creditsCharged } = acceptance;
    if (acceptance.kind === 'replayed') ctx.set('Idempotency-Replayed', 'true');
    else if (acceptance.rate) ctx.set(rateHeaders('creates', acceptance.rate.limit, acceptance.rate.left));
    // A replay starts a task whose first process may have stopped before starting it.
    const isStarted = acceptance.kind === 'replayed' && acceptance.state !== 'waiting';
    if (!isStarted) deps.startTask({ taskId, accountId: caller.accountId, model: task.param.model });
    const { createdTask, taskRecord } = adapterOf(dialect);
    const record = await recordAfterWait(call, deps, taskId);
    return record === undefined ? createdTask({ taskId, creditsCharged }) : taskRecord(record, deps.catalogue().models);
  },
});

/** The task keeps price, deadline and providers of its model. */
async function newTask(call: CreateCall, deps: HttpDeps): Promise<NewTask> {
  const { caller, dialect, ctx } = call;
  const idempotency = idempotencyKeyOf(ctx);
  const { param, model } = await readTaskRequest(call, deps, [idempotency.error ?? []].flat());
  return {
    taskId: uuidv7(),
    accountId: caller.accountId,
    by: caller.by,
    ...taskTerms(model, param),
    idempotencyKey: idempotency.key,
    createRate: deps.createRate,
    dialect,
  };
}

/** Never fails, because the task is already accepted. */
async function recordAfterWait({ caller, ctx }: CreateCall, deps: HttpDeps, taskId: string) {
  if (!caller.scopes.includes('tasks:read')) return undefined;
  const isHeld = await longPoll(ctx, deps.taskWaiters, { taskId, accountId: caller.accountId });
  if (!isHeld) return undefined;
  const task = await deps.taskWaiters.find(taskId).catch(() => undefined);
  return task === undefined ? undefined : presentTask(deps, task).catch(() => undefined);
}

function accepted(acceptance: Acceptance): Extract<Acceptance, { kind: 'accepted' | 'replayed' }> {
  switch (acceptance.kind) {
    case 'accepted':
    case 'replayed':
      return acceptance;
    case 'key_reused':
      throw new HttpError('idempotency_key_reused');
    case 'content_deleted':
      throw new HttpError('content_deleted', { msg: 'the task of this Idempotency-Key was deleted; use another key' });
    case 'insufficient_credits': {
      const { required, balance } = acceptance;
      const msg = `the balance is too low: ${required} credits required, ${balance} available`;
      throw new HttpError('insufficient_credits', { msg, data: { required, balance } });
    }
    case 'too_many_unfinished_tasks':
      throw new HttpError('too_many_unfinished_tasks', { data: { limit: acceptance.limit } });
    case 'too_fast': {
      const { limit, left } = acceptance.rate;
      throw new HttpError('rate_limited', { headers: refusalHeaders('creates', limit, left) });
    }
    case 'key_inactive':
      throw new HttpError('unauthorized');
    case 'account_suspended':
      throw new HttpError('account_suspended');
    case 'account_not_found':
      break;
  }
  throw new Error('the account of a key does not exist');
}
