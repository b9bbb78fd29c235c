import type { Router } from '@koa/router';
import { z } from 'zod';
import { openAccountAs } from '../../../stores/operator-accounts.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { accountSchema, maxCredits, shownAccount } from '../../operator-schemas.ts';
import { plainText } from '../../plain-text.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';

const creditsError = `must be a whole number from 0 to ${maxCredits}`;

const body = z.strictObject({
  name: plainText(200),
  credits: z
    .int({ error: creditsError })
    .min(0, { error: creditsError })
    .max(maxCredits, { error: creditsError })
    .default(0)
    .meta({ description: 'Opening credits, the first entry of the ledger.' }),
});
type Input = z.output<typeof body>;

export const createAccountOperation: Operation = {
  operationId: 'adminCreateAccount',
  method: 'post',
  path: '/api/admin/v1/accounts',
  tag: 'operators',
  summary: 'Open an account',
  description: 'It has no key yet. Two accounts may have one name; repeating the request opens another one.',
  key: 'operator',
  body: () => body,
  data: accountSchema,
  failures: [...operatorFailures, ...bodyFailures],
};

/** `POST /api/admin/v1/accounts {name, credits?}`. */
export function createAccountRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    createAccountOperation.path,
    checkAnswers(createAccountOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    async (ctx: Context<WithOperator & WithInput<Input>>) => {
      succeed(ctx, shownAccount(await openAccountAs(deps.db, actorOf(ctx), ctx.state.input)));
    },
  );
}
