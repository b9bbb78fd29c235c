import type { Router } from '@koa/router';
import { z } from 'zod';
import { countLimit, countOfAccount, findAccountDetail } from '../../../stores/account-list.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { accountSchema, idParameter, shownAccount } from '../../operator-schemas.ts';
import { strictQuery } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';

const query = strictQuery({ accountId: idParameter('an account') });
type Query = z.output<typeof query>;

const count = z.int().min(0).max(countLimit);
const countsSchema = z.strictObject({
  activeKeys: count,
  waiting: count,
  queuing: count,
  generating: count,
  tasks: count.meta({ description: `All tasks there ever were; counted up to ${countLimit}, as the others are.` }),
});

export const showAccountOperation: Operation = {
  operationId: 'adminShowAccount',
  method: 'get',
  path: '/api/admin/v1/accounts/show',
  tag: 'operators',
  summary: 'One account, with its counts',
  key: 'operator',
  query,
  data: z.strictObject({ account: accountSchema, counts: countsSchema }),
  failures: [...operatorFailures, 'invalid_request', 'no_such_account'],
};

/** `GET /api/admin/v1/accounts/show?accountId=`. */
export function showAccountRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    showAccountOperation.path,
    checkAnswers(showAccountOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => showAccount(ctx, deps),
  );
}

async function showAccount(ctx: Context<WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { accountId } = ctx.state.query;
  const account = await findAccountDetail(db, accountId);
  if (account === undefined) throw new HttpFailure('no_such_account');
  succeed(ctx, { account: shownAccount(account), counts: await countOfAccount(db, accountId) });
}
