import type { Router } from '@koa/router';
import { z } from 'zod';
import { bookCredits, bookedSchema, bookingFailures, replayedHeader } from '../../book-credits.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import {
  requiredIdempotencyKey,
  requireIdempotencyKey,
  type WithIdempotencyKey,
} from '../../middleware/require-idempotency-key.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { idField, maxCredits, reasonField } from '../../operator-schemas.ts';
import type { Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';

const creditsError = `must be a whole number from 1 to ${maxCredits}`;

const body = z.strictObject({
  accountId: idField('an account'),
  credits: z.int({ error: creditsError }).min(1, { error: creditsError }).max(maxCredits, { error: creditsError }),
  reason: reasonField,
});
type Input = z.output<typeof body>;

export const grantCreditsOperation: Operation = {
  operationId: 'adminGrantCredits',
  method: 'post',
  path: '/api/admin/v1/credits/grant',
  tag: 'operators',
  summary: 'Grant credits to an account',
  description:
    'For credits that were bought or given. Needs an `Idempotency-Key`: repeating a lost request gives the first answer ' +
    'again and grants nothing. The reason is shown to the account in its ledger.',
  key: 'operator',
  headers: requiredIdempotencyKey,
  body: () => body,
  data: bookedSchema,
  answerHeaders: replayedHeader,
  failures: [...operatorFailures, ...bodyFailures, ...bookingFailures],
};

/** `POST /api/admin/v1/credits/grant {accountId, credits, reason}`: once for each Idempotency-Key. */
export function grantCreditsRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input> & WithIdempotencyKey>(
    grantCreditsOperation.path,
    checkAnswers(grantCreditsOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    requireIdempotencyKey,
    (ctx) => {
      const { accountId, credits, reason } = ctx.state.input;
      return bookCredits(ctx, deps, { accountId, kind: 'grant', amount: credits, reason });
    },
  );
}
