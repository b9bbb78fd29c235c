import type { Router } from '@koa/router';
import { z } from 'zod';
import { findAccount } from '../../../stores/accounts.ts';
import { listRates } from '../../../stores/rates.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { numberedPage } from '../../ledger-entry-schema.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { idParameter } from '../../operator-schemas.ts';
import { cutPage, nextCursorSchema, strictQuery, textParameter } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';
import { setRateSchema, shownSetRate } from '../../set-rate-schema.ts';
import { priceFields, shownPrices } from '../../shown-prices.ts';

const modelError = 'must be the name of a model';

const query = strictQuery({
  accountId: idParameter('an account').optional(),
  model: textParameter(modelError)
    .regex(/^[\w./-]{1,100}$/, { error: modelError })
    .optional(),
  ...numberedPage,
});
type Query = z.output<typeof query>;

export const listRatesOperation: Operation = {
  operationId: 'adminListRates',
  method: 'get',
  path: '/api/admin/v1/rates',
  tag: 'operators',
  summary: 'What the models cost, and what was decided about it',
  description:
    'The rates that operators have set, newest first: all of them, or those of one account. `prices` are those of the ' +
    "account, or of every account without rates of its own. A model without a rate here costs what the catalogue's file says.",
  key: 'operator',
  query,
  data: z.strictObject({
    prices: z.array(z.strictObject({ model: z.string(), title: z.string(), ...priceFields })),
    rates: z.array(setRateSchema),
    nextCursor: nextCursorSchema,
  }),
  failures: [...operatorFailures, 'invalid_request', 'no_such_account'],
};

/** `GET /api/admin/v1/rates`. */
export function listRatesRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    listRatesOperation.path,
    checkAnswers(listRatesOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => showRates(ctx, deps),
  );
}

async function showRates(ctx: Context<WithQuery<Query>>, deps: HttpDeps): Promise<void> {
  const { accountId, model, cursor: before, limit } = ctx.state.query;
  if (accountId !== undefined && (await findAccount(deps.db, accountId)) === undefined) {
    throw new HttpFailure('no_such_account');
  }
  const { page, last } = cutPage(await listRates(deps.db, { accountId, model, before, limit: limit + 1 }), limit);
  succeed(ctx, {
    prices: await shownPrices(deps, accountId),
    rates: page.map(shownSetRate),
    nextCursor: last === undefined ? null : String(last.rateId),
  });
}
