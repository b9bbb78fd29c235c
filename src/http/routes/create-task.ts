import type { Router } from '@koa/router';
import { v7 as uuidv7 } from 'uuid';
import { chargeFor } from '../../domain/models.ts';
import type { TaskParam } from '../../domain/task.ts';
import type { Acceptance, NewTask } from '../../stores/accept-task.ts';
import { acceptSurely } from '../accept-surely.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { readJson } from '../middleware/read-json.ts';
import { refuseSuspended } from '../middleware/refuse-suspended.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateTaskRequest, type WithTaskRequest } from '../middleware/validate-task-request.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';

/** `POST /api/v1/jobs/createTask` (spec 4.1): accepts a task, which is to say charges it and promises to end it. */
export function createTaskRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithTaskRequest>(
    '/api/v1/jobs/createTask',
    authenticate(deps.db),
    requireScope('tasks:write'),
    refuseSuspended,
    readJson,
    validateTaskRequest(deps.parseTaskRequest),
    (ctx) => createTask(ctx, deps),
  );
}

async function createTask(ctx: Context<WithCaller & WithTaskRequest>, deps: HttpDeps): Promise<void> {
  const { caller, param, idempotencyKey } = ctx.state;
  const task: NewTask = {
    taskId: uuidv7(),
    accountId: caller.accountId,
    param,
    creditsCharged: chargeOf(param, deps),
    idempotencyKey,
  };
  const { kind, taskId, creditsCharged } = answered(await acceptSurely(deps, task));
  if (kind === 'accepted') deps.startTask({ taskId, accountId: caller.accountId, model: param.model });
  else ctx.set('Idempotency-Replayed', 'true');
  succeed(ctx, { taskId, creditsCharged });
}

function chargeOf({ model: name, input }: TaskParam, { models, now = Date.now }: HttpDeps): number {
  const model = models.get(name);
  if (model === undefined) throw new Error(`a request for ${name} was let through, which is not in the catalogue`);
  return chargeFor(model, input.duration, now());
}

/** The acceptance, or the refusal as a failure. */
function answered(acceptance: Acceptance): Extract<Acceptance, { kind: 'accepted' | 'replayed' }> {
  switch (acceptance.kind) {
    case 'accepted':
    case 'replayed':
      return acceptance;
    case 'key_reused':
      throw new HttpFailure('idempotency_key_reused');
    case 'insufficient_credits': {
      const { required, balance } = acceptance;
      throw new HttpFailure('insufficient_credits', { data: { required, balance } });
    }
    case 'too_many_unfinished':
      throw new HttpFailure('too_many_unfinished', { data: { limit: acceptance.limit } });
    case 'account_suspended':
      throw new HttpFailure('account_suspended');
    case 'no_such_account':
      break;
  }
  throw new Error('a key belongs to an account that does not exist');
}
