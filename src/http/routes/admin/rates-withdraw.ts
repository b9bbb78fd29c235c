import type { Router } from '@koa/router';
import { z } from 'zod';
import { withdrawRateAs } from '../../../stores/operator-rates.ts';
import { rateLeadMs } from '../../../stores/rates.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { reasonField } from '../../operator-schemas.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';
import { setRateSchema, shownSetRate } from '../../set-rate-schema.ts';

const idError = 'must be the id of a rate';

const body = z.strictObject({
  rateId: z.int({ error: ({ input }) => (input === undefined ? 'is required' : idError) }).min(1, { error: idError }),
  reason: reasonField,
});
type Input = z.output<typeof body>;

export const withdrawRateOperation: Operation = {
  operationId: 'adminWithdrawRate',
  method: 'post',
  path: '/api/admin/v1/rates/withdraw',
  tag: 'operators',
  summary: 'Take back a rate that does not count yet',
  description:
    `Until ${rateLeadMs / 1000} seconds before it begins. One that counts can be followed by another, but not taken ` +
    'back. Withdrawing again changes nothing.',
  key: 'operator',
  body: () => body,
  data: setRateSchema,
  failures: [...operatorFailures, ...bodyFailures, 'no_such_rate', 'rate_in_force'],
};

/** `POST /api/admin/v1/rates/withdraw {rateId, reason}`. */
export function withdrawRateRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    withdrawRateOperation.path,
    checkAnswers(withdrawRateOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => withdraw(ctx, deps),
  );
}

async function withdraw(ctx: Context<WithOperator & WithInput<Input>>, { db }: HttpDeps): Promise<void> {
  const { rateId, reason } = ctx.state.input;
  const withdrawal = await withdrawRateAs(db, actorOf(ctx), { rateId, reason });
  if (withdrawal.kind === 'no_such_rate') throw new HttpFailure('no_such_rate');
  if (withdrawal.kind === 'too_late') throw new HttpFailure('rate_in_force');
  succeed(ctx, shownSetRate(withdrawal.rate));
}
