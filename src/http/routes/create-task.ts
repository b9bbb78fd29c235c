import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { adapterOf } from '../../dialects/dialect.ts';
import { kieCreatedSchema, kieRecordSchema } from '../../dialects/kie-record.ts';
import type { Acceptance, NewTask } from '../../stores/acceptance.ts';
import { uploadIdOf } from '../../domain/upload.ts';
import { listUsableUploads } from '../../stores/uploads.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import type { Call } from '../endpoint.ts';
import { HttpError, invalidRequest } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';
import { idempotencyKeyHeader, idempotencyKeyOf, replayedHeader } from '../idempotency-key.ts';
import { rateHeaders, refusalHeaders } from '../limits/rate-headers.ts';
import { presentTask, taskRecordSchema } from '../presenters/task.ts';
import { acceptWithRetry } from '../tasks/accept-with-retry.ts';
import { longPoll, preferenceApplied, preferHeader } from '../tasks/long-poll.ts';

type CreateCall = Pick<Call<'tasks:write', undefined, typeof anyJson>, 'caller' | 'dialect' | 'input' | 'ctx'>;

/** The dialect of the caller decides how the body is validated. */
const anyJson = z.record(z.string(), z.unknown());

const created = z.strictObject({ taskId: z.string(), creditsCharged: z.int().positive() }).meta({ id: 'CreatedTask' });

export const createTask = defineEndpoint({
  operationId: 'createTask',
  route: 'POST /api/v1/jobs/createTask',
  scope: 'tasks:write',
  createsTask: true,
  refusesSuspended: true,
  summary: 'Create a task',
  description:
    'Accepts a task and charges it, in one step. The answer means that the task was accepted, not that it has ended. Give ' +
    'an `Idempotency-Key`, and repeating a lost request is safe: the first answer comes again. A failed task is ' +
    'refunded in full. Unknown fields are refused by name. With `Prefer: wait=N`, and a key that may read tasks, the ' +
    'answer is held and carries the whole record.',
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
    // A replay starts its task too, when the process that accepted it has not come to it.
    const isStarted = acceptance.kind === 'replayed' && acceptance.state !== 'waiting';
    if (!isStarted) deps.startTask({ taskId, accountId: caller.accountId, model: task.param.model });
    const { createdTask, taskRecord } = adapterOf(dialect);
    const record = await recordAfterWait(call, deps, taskId);
    return record === undefined ? createdTask({ taskId, creditsCharged }) : taskRecord(record, deps.catalogue().models);
  },
});

/** Validates header and body; 422 names every fault of both. The task keeps what the catalogue says of its model today. */
async function newTask(call: CreateCall, deps: HttpDeps): Promise<NewTask> {
  const { caller, dialect, ctx } = call;
  const idempotency = idempotencyKeyOf(ctx);
  const request = await readRequest(call, deps);
  if (idempotency.error !== undefined || !request.ok) {
    throw invalidRequest([...[idempotency.error ?? []].flat(), ...(request.ok ? [] : request.errors)], request.hint);
  }
  const { param } = request;
  const model = deps.catalogue().models.get(param.model);
  if (model === undefined) throw new Error(`the model ${param.model} of a valid request is not in the catalogue`);
  if (!deps.isSold(model.model)) throw new HttpError('model_unavailable');
  return {
    taskId: uuidv7(),
    accountId: caller.accountId,
    by: caller.by,
    param,
    listedPrices: model.prices,
    deadlineMs: model.deadlineMs,
    providers: model.providers,
    idempotencyKey: idempotency.key,
    createRate: deps.createRate,
    dialect,
  };
}

async function readRequest(
  { caller, dialect, input }: CreateCall,
  { db, catalogue, parseTaskRequest, publicUrl }: HttpDeps,
) {
  const { models } = catalogue();
  const { taskRequest } = adapterOf(dialect);
  const request = taskRequest(input, { parse: parseTaskRequest, models });
  const uploads = request.ok ? request.param.input.imageUrls.map((url) => uploadIdOf(publicUrl, url)) : [];
  const named = uploads.filter((uploadId) => uploadId !== undefined);
  if (named.length === 0) return request;
  const usable = new Set((await listUsableUploads(db, caller.accountId, named)).map(({ uploadId }) => uploadId));
  const errors = uploads.flatMap((uploadId, index) =>
    uploadId === undefined || usable.has(uploadId) ? [] : [{ path: `input.imageUrls[${index}]`, message: notUsable }],
  );
  // Once more, so that the errors name the field as the client wrote it.
  return errors.length === 0 ? request : taskRequest(input, { parse: () => ({ ok: false, errors }), models });
}

/** The same for an image that has expired, another account's, and none. */
const notUsable = 'is no image that this account has uploaded and that is still kept; upload it again';

/** The record, when the client waits for it and its key may read it. A fault here changes nothing: the task is accepted. */
async function recordAfterWait({ caller, ctx }: CreateCall, deps: HttpDeps, taskId: string) {
  if (!caller.scopes.includes('tasks:read')) return undefined;
  const isHeld = await longPoll(ctx, deps.taskWaiters, { taskId, accountId: caller.accountId });
  if (!isHeld) return undefined;
  const task = await deps.taskWaiters.find(taskId).catch(() => undefined);
  return task === undefined ? undefined : presentTask(deps, task).catch(() => undefined);
}

/** Throws what refuses the task. */
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
    case 'key_not_active':
      throw new HttpError('unauthorized');
    case 'account_suspended':
      throw new HttpError('account_suspended');
    case 'account_not_found':
      break;
  }
  throw new Error('a key belongs to an account that does not exist');
}
