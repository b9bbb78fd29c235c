import { z } from 'zod';
import type { Caller } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import { dialectAdapter } from '../dialects/native-and-kie-dialects.ts';
import { setUnusedHeader, unusedFieldsHeaderDoc } from '../dialects/unused-fields.ts';
import { kieCreatedSchema, kieRecordSchema } from '../dialects/kie/kie-record-and-callback.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { EndpointCall } from '../core/endpoint-spec.ts';
import { HttpError, invalidRequest } from '../core/http-error.ts';
import { idempotencyKeyHeader, readIdempotencyKeyOrError, replayedHeader } from '../core/idempotency-key.ts';
import { rateHeaders, refusalHeaders } from '../core/limits/rate-headers.ts';
import { presentTask, type TaskRecordDeps, taskRecordSchema } from './task-view.ts';
import { type CreatedTask, type OrderTaskDeps, type OrderRefusal, orderTask } from '../../tasks/accept/order-task.ts';
import {
  type TranslateDeps,
  translateAndParseRequest,
  type TranslateRequest,
} from '../../tasks/accept/parse-task-request.ts';
import type { NewTask } from '../../tasks/accept/acceptance-contract.ts';
import { holdResponseAsPreferred, preferenceAppliedHeaderDoc, preferHeader } from './long-poll.ts';
import type { TaskWaiters } from '../../tasks/task-waiters.ts';
import { findTask } from '../../tasks/task-rows.ts';

/** The caller's dialect validates the body of a create request. */
export const anyJsonObject = z.record(z.string(), z.unknown());

/** The errors of a create beside those of every endpoint: validation, 401, 403 and the rate limit. */
export const createFailures = [
  'insufficient_credits',
  'spend_cap_reached',
  'model_not_allowed',
  'idempotency_key_reused',
  'content_deleted',
  'too_many_unfinished_tasks',
  'model_unavailable',
  'content_refused',
  'moderation_unavailable',
  'acceptance_unknown',
  'acceptance_reverted',
] as const;

const created = z.strictObject({ taskId: z.string(), creditsCharged: z.int().positive() }).meta({ id: 'CreatedTask' });

export type TakeOrderDeps = TranslateDeps & OrderTaskDeps;
type Deps = TakeOrderDeps & TaskRecordDeps & { readonly taskWaiters: TaskWaiters };

export const createTask = defineEndpoint({
  operationId: 'createTask',
  route: 'POST /api/v1/jobs/createTask',
  scope: 'tasks:write',
  createsTask: true,
  refusesSuspended: true,
  summary: 'Create a task',
  description:
    'Creates a task and charges it. The response means that the task was accepted, not that it has ended. Failed tasks are refunded in ' +
    'full. Send an `Idempotency-Key` to repeat a request safely. After a 503 `acceptance_unknown` the task may exist and be charged: ' +
    'repeat the request with the same key. Unknown fields are rejected. With `Prefer: wait=N` and the scope `tasks:read`, the response ' +
    'is held and contains the record.',
  headers: preferHeader.extend(idempotencyKeyHeader.shape),
  body: anyJsonObject,
  data: z.union([created, taskRecordSchema, kieCreatedSchema, kieRecordSchema]),
  answerHeaders: { ...preferenceAppliedHeaderDoc, ...replayedHeader, ...unusedFieldsHeaderDoc },
  failures: createFailures,
  handler: async (call, deps: Deps) => {
    const { caller, dialect, ctx, input } = call;
    const { createdTask, taskRecord, taskRequest, unusedFields } = dialectAdapter(dialect);
    const order = { caller, input, dialect, translate: taskRequest };
    const { taskId, creditsCharged } = await takeOrder(ctx, deps, order);
    setUnusedHeader(ctx, unusedFields(input, deps.catalogue().models));
    const record = await recordAfterWait(call, deps, taskId);
    return record === undefined ? createdTask({ taskId, creditsCharged }) : taskRecord(record, deps.catalogue().models);
  },
});

type CreateCall = Pick<EndpointCall<'tasks:write', undefined, undefined>, 'caller' | 'ctx'>;

/** Never fails, because the task is already accepted. */
async function recordAfterWait({ caller, ctx }: CreateCall, deps: Deps, taskId: string) {
  if (!caller.scopes.includes('tasks:read')) return undefined;
  const isHeld = await holdResponseAsPreferred(ctx, deps.taskWaiters, { taskId, accountId: caller.accountId });
  if (!isHeld) return undefined;
  const task = await findTask(deps.db, taskId).catch(() => undefined);
  return task === undefined ? undefined : presentTask(deps, task).catch(() => undefined);
}

type RequestedOrder = {
  readonly caller: Caller;
  readonly input: Readonly<Record<string, unknown>>;
  readonly translate: TranslateRequest;
  readonly dialect: string;
  /** Instead of the header of that name; undefined for none. */
  readonly idempotency?: { readonly key: string | undefined };
  /** Set if identical requests by the API key are attempts at one task while it is unfinished, and for this time after its success. */
  readonly mergesAfterSuccessMs?: number;
};

/** Places the order of a request of any API, and sets the headers of its response. */
export async function takeOrder(ctx: Context, deps: TakeOrderDeps, requested: RequestedOrder): Promise<CreatedTask> {
  const { caller, dialect } = requested;
  const idempotency = requested.idempotency ?? readIdempotencyKeyOrError(ctx);
  const errors = 'error' in idempotency ? [idempotency.error] : [];
  const request = translateAndParseRequest(requested, deps);
  const order = { caller, request, dialect, errors, idempotencyKey: idempotency.key };
  const outcome = await orderTask({ ...order, ...attemptOf(ctx, requested) }, deps);
  if (outcome.kind !== 'accepted' && outcome.kind !== 'replayed') throw orderRefusalToHttpError(outcome);
  ctx.state.taskId = outcome.taskId;
  ctx.state.endCreateAttempt?.();
  if (outcome.kind === 'replayed') ctx.set('Idempotency-Replayed', 'true');
  else if (outcome.rate) ctx.set(rateHeaders('creates', outcome.rate.limit, outcome.rate.left));
  return outcome;
}

/** The default of OpenAI's SDKs. */
const defaultTimeoutMs = 600_000;
const maxTimeoutMs = 3_600_000;
const maxCountedRetries = 10;
/** The pause before a repeat is at most as long. */
const maxBackoffMs = 60_000;

type Attempt = Pick<NewTask, 'attempt' | 'repeatWindowMs'>;

function attemptOf(ctx: Context, { caller, mergesAfterSuccessMs }: RequestedOrder): Attempt {
  if (mergesAfterSuccessMs !== undefined) return { attempt: 'running', repeatWindowMs: mergesAfterSuccessMs };
  const marked = markedAttempt(ctx);
  return caller.mergeRepeats === true ? { ...marked, attempt: 'merged' } : marked;
}

/**
 * SDKs generated by Stainless, such as OpenAI's, repeat creates without an Idempotency-Key. They count the repeats in a header, and each may
 * have waited for its response until the timeout, which the SDK for Node sends only if it was set for the request.
 */
function markedAttempt(ctx: Context): Attempt {
  const header = ctx.get('X-Stainless-Retry-Count');
  if (!/^\d{1,4}$/.test(header)) return {};
  const attempt = Number(header);
  if (attempt === 0) return { attempt };
  const seconds = ctx.get('X-Stainless-Timeout') || ctx.get('X-Stainless-Read-Timeout');
  const isGiven = /^\d{1,6}(\.\d{1,9})?$/.test(seconds);
  const timeoutMs = isGiven ? Math.min(maxTimeoutMs, 1000 * Number(seconds)) : defaultTimeoutMs;
  const retries = Math.min(maxCountedRetries, attempt);
  return { attempt, repeatWindowMs: retries * (timeoutMs + maxBackoffMs) };
}

export function orderRefusalToHttpError(refusal: OrderRefusal): HttpError {
  switch (refusal.kind) {
    case 'invalid_request':
      return invalidRequest(refusal.errors, refusal.hint);
    case 'model_not_allowed': {
      const { model, allowed } = refusal;
      const msg = `the API key may not use ${model}; it may use ${allowed.join(', ')}`;
      return new HttpError(refusal.kind, { msg });
    }
    case 'content_refused': {
      const { category } = refusal;
      const msg = `the content was refused by moderation (${category}); nothing was charged`;
      return new HttpError(refusal.kind, { msg, data: { category } });
    }
    case 'key_reused':
      return new HttpError('idempotency_key_reused');
    case 'content_deleted':
      return new HttpError(refusal.kind, { msg: 'the task of this Idempotency-Key was deleted; use another key' });
    case 'insufficient_credits': {
      const { required, balance } = refusal;
      const msg = `the balance is too low: ${required} credits required, ${balance} available`;
      return new HttpError(refusal.kind, { msg, data: { required, balance } });
    }
    case 'spend_cap_reached':
      return spendCapReached(refusal);
    case 'too_many_unfinished_tasks':
      return new HttpError(refusal.kind, { data: { limit: refusal.limit } });
    case 'too_fast': {
      const { limit, left } = refusal.rate;
      return new HttpError('rate_limited', { headers: refusalHeaders('creates', limit, left, Math.random()) });
    }
    case 'key_inactive':
      return new HttpError('unauthorized');
    case 'acceptance_unknown':
    case 'acceptance_reverted':
      return new HttpError(refusal.kind, { cause: refusal.cause });
    case 'account_suspended':
    case 'disk_full':
    case 'model_unavailable':
    case 'moderation_unavailable':
      return new HttpError(refusal.kind);
    default:
      throw new Error(`no error for ${JSON.stringify(refusal satisfies never)}`);
  }
}

function spendCapReached({ required, cap }: Extract<OrderRefusal, { kind: 'spend_cap_reached' }>): HttpError {
  const { subject, period, credits, spent, resetsAt } = cap;
  const span = period === 'total' ? 'in total' : `per ${period}`;
  const resets = resetsAt === undefined ? '' : `; it resets at ${new Date(resetsAt).toISOString()}`;
  const msg = `the ${subject} may spend ${credits} credits ${span}: ${spent} spent, ${required} required${resets}`;
  const data = { subject, period, cap: credits, spent, required, resetTime: resetsAt ?? null };
  return new HttpError('spend_cap_reached', { msg, data });
}
