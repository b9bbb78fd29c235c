import type { Router } from '@koa/router';
import { z } from 'zod';
import { operatorActions } from '../../../domain/operator.ts';
import { listActions, type RecordedAction } from '../../../stores/operator-actions.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { numberedPage } from '../../ledger-entry-schema.ts';
import { authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { validateQuery } from '../../middleware/validate-query.ts';
import { type Operation, operatorFailures } from '../../operation.ts';
import { idParameter } from '../../operator-schemas.ts';
import { cutPage, nextCursorSchema, strictQuery } from '../../page-query.ts';
import type { Context, Extras, RequestState, WithOperator, WithQuery } from '../../request-state.ts';

const query = strictQuery({
  accountId: idParameter('an account').optional(),
  operatorId: idParameter('an operator').optional(),
  ...numberedPage,
});
type Query = z.output<typeof query>;

const actorSchema = z.strictObject({
  kind: z.enum(['operator', 'command_line']),
  operatorId: z.string().nullable(),
  name: z.string().meta({ description: "The operator's, or at the command line that of the user of the machine." }),
  requestId: z.string().nullable().meta({ description: 'The `X-Request-Id` of the answer.' }),
});

const actionSchema = z
  .strictObject({
    actionId: z.int(),
    action: z.enum(operatorActions),
    actor: actorSchema,
    accountId: z.string().nullable(),
    taskId: z.string().nullable(),
    keyId: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).meta({ description: 'Old and new values, the reason; never a secret.' }),
    createTime: z.int().nonnegative(),
  })
  .meta({ id: 'OperatorAction' });

export const listActionsOperation: Operation = {
  operationId: 'adminListActions',
  method: 'get',
  path: '/api/admin/v1/audit',
  tag: 'operators',
  summary: 'What operators have done',
  description:
    'Newest first; over the API and at the command line. An entry is written in the transaction of the change itself, and ' +
    'can be neither changed nor deleted. Requests that were refused, or changed nothing, are not listed.',
  key: 'operator',
  query,
  data: z.strictObject({ actions: z.array(actionSchema), nextCursor: nextCursorSchema }),
  failures: [...operatorFailures, 'invalid_request'],
};

/** `GET /api/admin/v1/audit`: the log of the operators, a page at a time. */
export function listActionsRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithOperator & WithQuery<Query>>(
    listActionsOperation.path,
    checkAnswers(listActionsOperation, deps.checkAnswers),
    authenticateOperator(deps),
    validateQuery(query),
    (ctx) => showActions(ctx, deps),
  );
}

async function showActions(ctx: Context<WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { accountId, operatorId, cursor: before, limit } = ctx.state.query;
  const { page, last } = cutPage(await listActions(db, { accountId, operatorId, before, limit: limit + 1 }), limit);
  succeed(ctx, { actions: page.map(shownAction), nextCursor: last === undefined ? null : String(last.actionId) });
}

function shownAction({ actionId, action, actor, accountId, taskId, keyId, details, createdAt }: RecordedAction) {
  const { kind, name } = actor;
  const { operatorId = null, requestId = null } = kind === 'operator' ? actor : {};
  return {
    actionId,
    action,
    actor: { kind, operatorId, name, requestId },
    accountId: accountId ?? null,
    taskId: taskId ?? null,
    keyId: keyId ?? null,
    details,
    createTime: createdAt,
  };
}
