import type { Router } from '@koa/router';
import { z } from 'zod';
import { findAccountDetail } from '../../../stores/account-list.ts';
import { readBooks } from '../../../stores/ledger.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { ledgerEntrySchema, numberedPage, shownEntry } from '../../ledger-entry-schema.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { idParameter } from '../../operator-schemas.ts';
import { cutPage, nextCursorSchema, strictQuery } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';

const query = strictQuery({ accountId: idParameter('an account'), ...numberedPage });
type Query = z.output<typeof query>;

export const showCreditsOperation: Operation = {
  operationId: 'adminShowCredits',
  method: 'get',
  path: '/api/admin/v1/credits',
  tag: 'operators',
  summary: 'The balance of an account, and the ledger behind it',
  description: 'Entries are listed newest first; balance and entries are read at one and the same moment.',
  key: 'operator',
  query,
  data: z.strictObject({
    accountId: z.string(),
    balance: z.int().nonnegative(),
    entries: z.array(ledgerEntrySchema),
    nextCursor: nextCursorSchema,
  }),
  failures: [...operatorFailures, 'invalid_request', 'no_such_account'],
};

/** `GET /api/admin/v1/credits?accountId=`: what `GET /api/v1/credits` shows the account itself. */
export function showCreditsRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    showCreditsOperation.path,
    checkAnswers(showCreditsOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => showCredits(ctx, deps),
  );
}

async function showCredits(ctx: Context<WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { accountId, cursor: before, limit } = ctx.state.query;
  if ((await findAccountDetail(db, accountId)) === undefined) throw new HttpFailure('no_such_account');
  const { balance, entries } = await readBooks(db, { accountId, before, limit: limit + 1 });
  const { page, last } = cutPage(entries, limit);
  const nextCursor = last === undefined ? null : String(last.entryId);
  succeed(ctx, { accountId, balance, entries: page.map(shownEntry), nextCursor });
}
