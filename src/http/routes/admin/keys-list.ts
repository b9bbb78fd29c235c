import type { Router } from '@koa/router';
import { z } from 'zod';
import { findAccountDetail } from '../../../stores/account-list.ts';
import { listApiKeys } from '../../../stores/api-keys.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { keySchema, shownKey } from '../../key-schema.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { idParameter } from '../../operator-schemas.ts';
import { strictQuery } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';

const query = strictQuery({ accountId: idParameter('an account') });
type Query = z.output<typeof query>;

export const listKeysOfOperation: Operation = {
  operationId: 'adminListKeys',
  method: 'get',
  path: '/api/admin/v1/keys',
  tag: 'operators',
  summary: 'The keys of an account',
  description: 'Active keys first, then the newest; revoked and expired ones are listed too. At most 1,000.',
  key: 'operator',
  query,
  data: z.strictObject({ keys: z.array(keySchema).max(1000) }),
  failures: [...operatorFailures, 'invalid_request', 'no_such_account'],
};

/** `GET /api/admin/v1/keys?accountId=`: the keys of any account, without their secrets. */
export function listKeysOfRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    listKeysOfOperation.path,
    checkAnswers(listKeysOfOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => listKeys(ctx, deps),
  );
}

async function listKeys(ctx: Context<WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { accountId } = ctx.state.query;
  if ((await findAccountDetail(db, accountId)) === undefined) throw new HttpFailure('no_such_account');
  succeed(ctx, { keys: (await listApiKeys(db, accountId)).map(shownKey) });
}
