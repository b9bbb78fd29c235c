import type { Router } from '@koa/router';
import { z } from 'zod';
import type { Rate } from '../../../domain/rate.ts';
import { limitAccountAs } from '../../../stores/operator-accounts.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { accountSchema, idField, shownAccount } from '../../operator-schemas.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';

function wholeFrom(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

const body = z.strictObject({
  accountId: idField('an account'),
  maxUnfinishedTasks: wholeFrom(0, 1_000_000).optional(),
  creates: z
    .strictObject({ quota: wholeFrom(1, 1_000_000), windowSeconds: wholeFrom(1, 86_400) })
    .nullable()
    .optional()
    .meta({ description: "So many creates in so many seconds; null for the installation's rate." }),
});
type Input = z.output<typeof body>;

export const limitAccountOperation: Operation = {
  operationId: 'adminLimitAccount',
  method: 'post',
  path: '/api/admin/v1/accounts/limits',
  tag: 'operators',
  summary: 'Give an account limits of its own',
  description: 'Counts from the next create on. What is left out stays as it is.',
  key: 'operator',
  body: () => body,
  data: accountSchema,
  failures: [...operatorFailures, ...bodyFailures, 'no_such_account'],
};

/** `POST /api/admin/v1/accounts/limits {accountId, maxUnfinishedTasks?, creates?}`. */
export function limitAccountRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    limitAccountOperation.path,
    checkAnswers(limitAccountOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => limitAccount(ctx, deps),
  );
}

async function limitAccount(ctx: Context<WithOperator & WithInput<Input>>, { db }: HttpDeps): Promise<void> {
  const { accountId, maxUnfinishedTasks, creates } = ctx.state.input;
  const account = await limitAccountAs(db, actorOf(ctx), {
    accountId,
    maxUnfinishedTasks,
    createRate: rateOf(creates),
  });
  if (account === undefined) throw new HttpFailure('no_such_account');
  succeed(ctx, shownAccount(account));
}

function rateOf(creates: Input['creates']): Rate | null | undefined {
  return creates && { quota: creates.quota, windowMs: creates.windowSeconds * 1000 };
}
