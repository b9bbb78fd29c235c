import type { Router } from '@koa/router';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Rate } from '../../domain/models.ts';
import { documentedTaskRequest } from '../../domain/task-request.ts';
import type { TaskParam } from '../../domain/task.ts';
import type { Acceptance, NewTask } from '../../stores/accept-task.ts';
import { createTaskAcceptor } from '../../stores/task-acceptor.ts';
import { findTask } from '../../stores/tasks.ts';
import { acceptSurely } from '../accept-surely.ts';
import { succeed } from '../envelope.ts';
import { holdUntilEnd } from '../hold-until-end.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { idempotencyHeader } from '../idempotency-key.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitRefusals } from '../middleware/limit-refusals.ts';
import { presumeCaller } from '../middleware/presume-caller.ts';
import { preferenceApplied, preferHeader, preferWait, type WithWait } from '../middleware/prefer-wait.ts';
import { readJson } from '../middleware/read-json.ts';
import { refuseSuspended } from '../middleware/refuse-suspended.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateTaskRequest, type WithTaskRequest } from '../middleware/validate-task-request.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import { createPromisedPlaces, type PromisedPlaces } from '../promised-places.ts';
import { rateAnswerHeaders, rateHeaders, refusalHeaders } from '../rate-headers.ts';
import { readRecord } from '../read-record.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';
import { taskRecordSchema } from '../task-record-schema.ts';
import { translationOf } from '../translation.ts';

const created = z.strictObject({ taskId: z.string(), creditsCharged: z.int().positive() }).meta({ id: 'CreatedTask' });

export const createTaskOperation: Operation = {
  operationId: 'createTask',
  method: 'post',
  path: '/api/v1/jobs/createTask',
  tag: 'tasks',
  summary: 'Create a task',
  description:
    'Accepts a task and charges it, in one step. The answer means that the task was accepted, not that it has ended. Give ' +
    'an `Idempotency-Key`, and repeating a lost request is safe: the first answer comes again. A failed task is ' +
    'refunded in full. Unknown fields are refused by name. With `Prefer: wait=N`, and a key that may read tasks, the ' +
    'answer is held and carries the whole record.',
  key: 'tasks:write',
  headers: preferHeader.extend({
    [idempotencyHeader]: z
      .string()
      .regex(/^[\x21-\x7e]{1,255}$/)
      .optional()
      .meta({ description: 'The same key and body get the first answer again; kept for as long as the task.' }),
  }),
  body: documentedTaskRequest,
  data: z.union([created, taskRecordSchema]),
  answerHeaders: {
    ...rateAnswerHeaders,
    ...preferenceApplied,
    'Idempotency-Replayed': '`true` when this is an earlier answer again.',
  },
  callsBack: true,
  failures: [
    ...keyFailures,
    ...bodyFailures,
    'account_suspended',
    'too_many_refused',
    'insufficient_credits',
    'idempotency_key_reused',
    'too_many_unfinished',
    'acceptance_unknown',
    'acceptance_withdrawn',
  ],
};

/** `POST /api/v1/jobs/createTask` (spec 4.1): accepts a task, which is to say charges it and promises to end it. */
export function createTaskRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  const accepting = {
    accept: createTaskAcceptor(deps.db),
    withdraw: deps.withdraw,
    places: createPromisedPlaces(deps.now),
  };
  router.post<WithCaller & WithBody & WithTaskRequest & WithWait>(
    createTaskOperation.path,
    checkAnswers(createTaskOperation, deps.checkAnswers),
    presumeCaller([authenticate(deps), limitRefusals(deps), requireScope('tasks:write'), refuseSuspended], deps.now),
    readJson,
    validateTaskRequest(deps.parseTaskRequest),
    preferWait,
    (ctx) => createTask(ctx, deps, accepting),
  );
}

type Accepting = Parameters<typeof acceptSurely>[0] & { readonly places: PromisedPlaces };

async function createTask(
  ctx: Context<WithCaller & WithTaskRequest & WithWait>,
  deps: HttpDeps,
  { places, ...accepting }: Accepting,
): Promise<void> {
  const { caller, param, idempotencyKey } = ctx.state;
  const task: NewTask = {
    taskId: uuidv7(),
    accountId: caller.accountId,
    keyId: caller.keyId,
    param,
    listedRates: listedRatesOf(param, deps),
    idempotencyKey,
    createRate: deps.createRate,
    dialect: caller.dialect,
  };
  const acceptance = answered(await acceptSurely(accepting, task), caller.accountId, places);
  const { taskId, creditsCharged } = acceptance;
  const isReplay = acceptance.kind === 'replayed';
  if (!isReplay && acceptance.rate !== undefined) {
    ctx.set(rateHeaders('creates', acceptance.rate.limit, acceptance.rate.left));
  }
  // A replay starts its task too, when the process that accepted it has not come to it.
  const isStarted = isReplay && acceptance.state !== 'waiting';
  if (!isStarted) deps.startTask({ taskId, accountId: caller.accountId, model: param.model });
  if (isReplay) ctx.set('Idempotency-Replayed', 'true');
  const { createdTask, taskRecord } = translationOf(caller.dialect);
  const record = await recordAfterWait(ctx, deps, taskId);
  succeed(ctx, record === undefined ? createdTask({ taskId, creditsCharged }) : taskRecord(record));
}

/** The record, when the client wanted to wait for it and its key may read it; whatever goes wrong, the task is accepted. */
async function recordAfterWait(ctx: Context<WithCaller & WithWait>, deps: HttpDeps, taskId: string) {
  const { caller, waitSeconds } = ctx.state;
  if (!caller.scopes.includes('tasks:read')) return undefined;
  const isHeld = await holdUntilEnd(ctx, deps, { taskId, accountId: caller.accountId, waitSeconds });
  if (!isHeld) return undefined;
  const task = await findTask(deps.db, taskId).catch(() => undefined);
  return task === undefined ? undefined : readRecord(deps, task).catch(() => undefined);
}

function listedRatesOf({ model: name }: TaskParam, { models }: HttpDeps): readonly Rate[] {
  const model = models.get(name);
  if (model === undefined) throw new Error(`a request for ${name} was let through, which is not in the catalogue`);
  return model.rates;
}

/** The acceptance, or the refusal as a failure. */
function answered(
  acceptance: Acceptance,
  accountId: string,
  places: PromisedPlaces,
): Extract<Acceptance, { kind: 'accepted' | 'replayed' }> {
  switch (acceptance.kind) {
    case 'accepted':
    case 'replayed':
      return acceptance;
    case 'key_reused':
      throw new HttpFailure('idempotency_key_reused');
    case 'insufficient_credits': {
      const { required, balance } = acceptance;
      const msg = `the balance is too low: ${required} credits required, ${balance} available`;
      throw new HttpFailure('insufficient_credits', { msg, data: { required, balance } });
    }
    case 'too_many_unfinished':
      throw new HttpFailure('too_many_unfinished', { data: { limit: acceptance.limit } });
    case 'too_fast': {
      const { limit, left } = acceptance.rate;
      const retrySeconds = places.next(accountId, limit, left);
      throw new HttpFailure('rate_limited', { headers: refusalHeaders('creates', limit, left, retrySeconds) });
    }
    case 'key_not_active':
      throw new HttpFailure('unauthorized');
    case 'account_suspended':
      throw new HttpFailure('account_suspended');
    case 'no_such_account':
      break;
  }
  throw new Error('a key belongs to an account that does not exist');
}
