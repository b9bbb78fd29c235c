import type { Router } from '@koa/router';
import { z } from 'zod';
import { findAccountDetail, listAccounts } from '../../../stores/account-list.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { accountSchema, shownAccount } from '../../operator-schemas.ts';
import { cutPage, limitParameter, nextCursorSchema, strictQuery, textParameter } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';

const searchError = 'must be at most 200 characters, and plain text';

const query = strictQuery({
  search: textParameter(searchError)
    .max(200, { error: searchError })
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), { error: searchError })
    .meta({ description: 'How the name begins, in any case; or the id of an account.' })
    .optional(),
  suspended: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .meta({ type: 'boolean' })
    .optional(),
  cursor: z.uuid({ error: 'must be a nextCursor of an earlier answer' }).optional(),
  limit: limitParameter,
});
type Query = z.output<typeof query>;

export const listAccountsOperation: Operation = {
  operationId: 'adminListAccounts',
  method: 'get',
  path: '/api/admin/v1/accounts',
  tag: 'operators',
  summary: 'List the accounts',
  description: 'By name, without regard to case.',
  key: 'operator',
  query,
  data: z.strictObject({ accounts: z.array(accountSchema), nextCursor: nextCursorSchema }),
  failures: [...operatorFailures, 'invalid_request'],
};

/** `GET /api/admin/v1/accounts`: all accounts, a page at a time. */
export function listAccountsRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    listAccountsOperation.path,
    checkAnswers(listAccountsOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => showAccounts(ctx, deps),
  );
}

async function showAccounts(ctx: Context<WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { search: prefix, suspended, cursor: after, limit } = ctx.state.query;
  const { data: accountId } = z.uuid().safeParse(prefix);
  const found =
    accountId === undefined
      ? await listAccounts(db, { prefix, suspended, after, limit: limit + 1 })
      : [(await findAccountDetail(db, accountId)) ?? []].flat();
  const { page, last } = cutPage(found, limit);
  succeed(ctx, { accounts: page.map(shownAccount), nextCursor: last?.accountId ?? null });
}
