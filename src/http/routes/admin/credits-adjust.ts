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

const amountError = `must be a whole number from -${maxCredits} to ${maxCredits}, but not 0`;

const body = z.strictObject({
  accountId: idField('an account'),
  amount: z
    .int({ error: amountError })
    .min(-maxCredits, { error: amountError })
    .max(maxCredits, { error: amountError })
    .refine((amount) => amount !== 0, { error: amountError })
    .meta({ description: 'Signed, and not 0.' }),
  reason: reasonField,
});
type Input = z.output<typeof body>;

export const adjustCreditsOperation: Operation = {
  operationId: 'adminAdjustCredits',
  method: 'post',
  path: '/api/admin/v1/credits/adjust',
  tag: 'operators',
  summary: 'Adjust the balance of an account',
  description:
    'For corrections, up or down. The balance can not fall below zero: such an adjustment is refused and changes nothing. ' +
    'Needs an `Idempotency-Key`, as a grant does. The reason is shown to the account in its ledger.',
  key: 'operator',
  headers: requiredIdempotencyKey,
  body: () => body,
  data: bookedSchema,
  answerHeaders: replayedHeader,
  failures: [...operatorFailures, ...bodyFailures, ...bookingFailures],
};

/** `POST /api/admin/v1/credits/adjust {accountId, amount, reason}`: once for each Idempotency-Key. */
export function adjustCreditsRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input> & WithIdempotencyKey>(
    adjustCreditsOperation.path,
    checkAnswers(adjustCreditsOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    requireIdempotencyKey,
    (ctx) => {
      const { accountId, amount, reason } = ctx.state.input;
      return bookCredits(ctx, deps, { accountId, kind: 'adjustment', amount, reason });
    },
  );
}
