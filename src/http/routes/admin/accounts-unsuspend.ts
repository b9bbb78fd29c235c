import type { Router } from '@koa/router';
import { z } from 'zod';
import { suspendAccountAs } from '../../../stores/operator-accounts.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { accountSchema, idField, reasonField, shownAccount } from '../../operator-schemas.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';

const body = z.strictObject({ accountId: idField('an account'), reason: reasonField });
type Input = z.output<typeof body>;

export const unsuspendAccountOperation: Operation = {
  operationId: 'adminUnsuspendAccount',
  method: 'post',
  path: '/api/admin/v1/accounts/unsuspend',
  tag: 'operators',
  summary: 'Lift the suspension of an account',
  description: 'Counts from the next request on. An account that is not suspended stays as it is.',
  key: 'operator',
  body: () => body,
  data: accountSchema,
  failures: [...operatorFailures, ...bodyFailures, 'no_such_account'],
};

/** `POST /api/admin/v1/accounts/unsuspend {accountId, reason}`. */
export function unsuspendAccountRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    unsuspendAccountOperation.path,
    checkAnswers(unsuspendAccountOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => unsuspendAccount(ctx, deps),
  );
}

async function unsuspendAccount(ctx: Context<WithOperator & WithInput<Input>>, { db }: HttpDeps): Promise<void> {
  const account = await suspendAccountAs(db, actorOf(ctx), { ...ctx.state.input, suspended: false });
  if (account === undefined) throw new HttpFailure('no_such_account');
  succeed(ctx, shownAccount(account));
}
