import type { Router } from '@koa/router';
import { z } from 'zod';
import { revokeKeyAs } from '../../../stores/operator-keys.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { idField } from '../../operator-schemas.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';

const body = z.strictObject({ keyId: idField('a key') });
type Input = z.output<typeof body>;

export const revokeAnyKeyOperation: Operation = {
  operationId: 'adminRevokeKey',
  method: 'post',
  path: '/api/admin/v1/keys/revoke',
  tag: 'operators',
  summary: 'Revoke a key of any account',
  description: 'Counts from the next request on, for good. Repeating it changes nothing.',
  key: 'operator',
  body: () => body,
  data: z.strictObject({ keyId: z.string(), revokeTime: z.int() }),
  failures: [...operatorFailures, ...bodyFailures, 'no_such_key'],
};

/** `POST /api/admin/v1/keys/revoke {keyId}`. */
export function revokeAnyKeyRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    revokeAnyKeyOperation.path,
    checkAnswers(revokeAnyKeyOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => revokeKey(ctx, deps),
  );
}

async function revokeKey(ctx: Context<WithOperator & WithInput<Input>>, { db }: HttpDeps): Promise<void> {
  const { keyId } = ctx.state.input;
  const revokeTime = await revokeKeyAs(db, actorOf(ctx), keyId);
  if (revokeTime === undefined) throw new HttpFailure('no_such_key');
  succeed(ctx, { keyId, revokeTime });
}
