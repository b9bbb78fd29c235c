import type { Router } from '@koa/router';
import { z } from 'zod';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { keyFailures, type Operation } from '../operation.ts';
import type { Context, Extras, RequestState, WithCaller } from '../request-state.ts';

export const showCallbackSecretOperation: Operation = {
  operationId: 'showCallbackSecret',
  method: 'post',
  path: '/api/v1/callbacks/secret',
  tag: 'callbacks',
  summary: 'Show the secret that signs the callbacks, once',
  description:
    'Made on first use and shown a single time; every later call is refused with 409. A lost secret is replaced by ' +
    'rotation. Takes no body.',
  key: 'tasks:write',
  data: z.strictObject({ secret: z.string().meta({ description: '`whsec_…`, as Standard Webhooks has it.' }) }),
  failures: [...keyFailures, 'callback_secret_already_shown'],
};

/** `POST /api/v1/callbacks/secret`: the account's callback secret, for the only time. */
export function showCallbackSecretRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller>(
    showCallbackSecretOperation.path,
    checkAnswers(showCallbackSecretOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('tasks:write'),
    (ctx) => showSecret(ctx, deps),
  );
}

async function showSecret(ctx: Context<WithCaller>, { callbackSecrets }: HttpDeps): Promise<void> {
  const secret = await callbackSecrets.reveal(ctx.state.caller.accountId);
  if (secret === undefined) throw new HttpFailure('callback_secret_already_shown');
  succeed(ctx, { secret });
}
