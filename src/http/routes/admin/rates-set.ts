import type { Router } from '@koa/router';
import { z } from 'zod';
import { unknownModel } from '../../../domain/models.ts';
import { setRateAs } from '../../../stores/operator-rates.ts';
import { maxCreditsPerSecond, rateLeadMs } from '../../../stores/rates.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { invalidRequest } from '../../invalid-request.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { idField, reasonField } from '../../operator-schemas.ts';
import { maxUnixMs } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';
import { setRateSchema, shownSetRate } from '../../set-rate-schema.ts';

const rateError = `must be a whole number of credits from 1 to ${maxCreditsPerSecond}, or null`;
const timeError = 'must be a time in Unix milliseconds that is not past: a rate never changes what has been';

const body = z.strictObject({
  model: z.string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be the name of a model') }),
  creditsPerSecond: z
    .int({ error: ({ input }) => (input === undefined ? 'is required' : rateError) })
    .min(1, { error: rateError })
    .max(maxCreditsPerSecond, { error: rateError })
    .nullable()
    .meta({ description: 'Null: back to the list price, or with no account to that of the catalogue.' }),
  accountId: idField('an account').nullish().meta({ description: 'Without it, for everybody.' }),
  fromTime: z
    .int({ error: timeError })
    .min(0, { error: timeError })
    .max(maxUnixMs, { error: timeError })
    .nullish()
    .meta({ description: 'Unix milliseconds; without it as soon as can be.' }),
  reason: reasonField,
});
type Input = z.output<typeof body>;

export const setRateOperation: Operation = {
  operationId: 'adminSetRate',
  method: 'post',
  path: '/api/admin/v1/rates/set',
  tag: 'operators',
  summary: 'Set what a second of a model costs, for everybody or for one account',
  description:
    "Counts for tasks that are created at `fromTime` or later; every other task keeps what it was charged. An account's " +
    `own rate counts before that for everybody. A rate begins ${rateLeadMs / 1000} seconds from now at the earliest, so that ` +
    'every process knows it before it counts; the answer says when.',
  key: 'operator',
  body: () => body,
  data: setRateSchema,
  failures: [...operatorFailures, ...bodyFailures, 'no_such_account'],
};

/** `POST /api/admin/v1/rates/set {model, creditsPerSecond, accountId?, fromTime?, reason}`. */
export function setRateRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    setRateOperation.path,
    checkAnswers(setRateOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => setRate(ctx, deps),
  );
}

async function setRate(ctx: Context<WithOperator & WithInput<Input>>, { db, models }: HttpDeps): Promise<void> {
  const { model, creditsPerSecond, accountId, fromTime, reason } = ctx.state.input;
  const fault = unknownModel(models, model);
  if (fault !== undefined) throw invalidRequest([{ path: 'model', message: fault }]);
  const setting = await setRateAs(db, actorOf(ctx), {
    model,
    accountId: accountId ?? undefined,
    creditsPerSecond: creditsPerSecond ?? undefined,
    fromMs: fromTime ?? undefined,
    reason,
  });
  if (setting.kind === 'no_such_account') throw new HttpFailure('no_such_account');
  if (setting.kind === 'in_the_past') throw invalidRequest([{ path: 'fromTime', message: timeError }]);
  succeed(ctx, shownSetRate(setting.rate));
}
