import type { Router } from '@koa/router';
import { z } from 'zod';
import { defaultOverlapSeconds, maxOverlapSeconds } from '../../domain/secret-overlap.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { readJson } from '../middleware/read-json.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateBody, type WithInput } from '../middleware/validate-body.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';

const overlapError = `must be a whole number of seconds from 0 to ${maxOverlapSeconds}`;

const body = z.strictObject({
  overlapSeconds: z
    .int({ error: overlapError })
    .min(0, { error: overlapError })
    .max(maxOverlapSeconds, { error: overlapError })
    .default(defaultOverlapSeconds),
});
type Input = z.output<typeof body>;

export const rotateCallbackSecretOperation: Operation = {
  operationId: 'rotateCallbackSecret',
  method: 'post',
  path: '/api/v1/callbacks/secret/rotate',
  tag: 'callbacks',
  summary: 'Replace the secret that signs the callbacks',
  description:
    'Shows the new secret, once. For `overlapSeconds` (a day unless given) every callback carries two signatures, so ' +
    'that receivers can change over; with 0 the former secret signs nothing any more.',
  key: 'tasks:write',
  body: () => body,
  data: z.strictObject({ secret: z.string(), overlapSeconds: z.int().nonnegative() }),
  failures: [...keyFailures, ...bodyFailures],
};

/** `POST /api/v1/callbacks/secret/rotate {overlapSeconds?}`. */
export function rotateCallbackSecretRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithInput<Input>>(
    rotateCallbackSecretOperation.path,
    checkAnswers(rotateCallbackSecretOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('tasks:write'),
    readJson,
    validateBody(body),
    (ctx) => rotateSecret(ctx, deps),
  );
}

async function rotateSecret(ctx: Context<WithCaller & WithInput<Input>>, { callbackSecrets }: HttpDeps): Promise<void> {
  const { caller, input } = ctx.state;
  const { overlapSeconds } = input;
  const secret = await callbackSecrets.rotate({ accountId: caller.accountId, overlapSeconds });
  succeed(ctx, { secret, overlapSeconds });
}
