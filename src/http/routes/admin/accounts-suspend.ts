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

export const suspendAccountOperation: Operation = {
  operationId: 'adminSuspendAccount',
  method: 'post',
  path: '/api/admin/v1/accounts/suspend',
  tag: 'operators',
  summary: 'Suspend an account',
  description:
    'It may create no more tasks and no keys, from the next request on. It may go on reading, and what it has paid for is ' +
    'finished. Suspending it again changes nothing.',
  key: 'operator',
  body: () => body,
  data: accountSchema,
  failures: [...operatorFailures, ...bodyFailures, 'no_such_account'],
};

/** `POST /api/admin/v1/accounts/suspend {accountId, reason}`: nothing new, but no loss of what was paid for. */
export function suspendAccountRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    suspendAccountOperation.path,
    checkAnswers(suspendAccountOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => suspendAccount(ctx, deps),
  );
}

async function suspendAccount(ctx: Context<WithOperator & WithInput<Input>>, { db }: HttpDeps): Promise<void> {
  const account = await suspendAccountAs(db, actorOf(ctx), { ...ctx.state.input, suspended: true });
  if (account === undefined) throw new HttpFailure('no_such_account');
  succeed(ctx, shownAccount(account));
}
