import { z } from 'zod';
import { operatorActions } from '../../accounts/operators/actors-and-actions.ts';
import { listOperatorActions, type RecordedAction } from '../../accounts/operators/audit-log.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import {
  cutPage,
  idParameter,
  nextCursorSchema,
  numericIdPageParameters,
  strictQuery,
} from '../core/query-parameters.ts';

const actorSchema = z.strictObject({
  kind: z.enum(['operator', 'user', 'command_line']),
  operatorId: z.string().nullable(),
  userId: z.string().nullable().meta({ description: 'An operator who was signed in to the console.' }),
  name: z.string().meta({
    description:
      "The operator's name, the e-mail of a person in the console, or the user of the machine at the command line.",
  }),
  requestId: z.string().nullable().meta({ description: 'The `X-Request-Id` of the response.' }),
});

const actionSchema = z
  .strictObject({
    actionId: z.int(),
    action: z.enum(operatorActions),
    actor: actorSchema,
    accountId: z.string().nullable(),
    accountName: z.string().nullable(),
    taskId: z.string().nullable(),
    keyId: z.string().nullable(),
    details: z
      .record(z.string(), z.unknown())
      .meta({ description: 'Old and new values, and the reason. Contains no secrets.' }),
    createTime: unixMsSchema,
  })
  .meta({ id: 'OperatorAction' });

const list = defineEndpoint({
  operationId: 'adminListActions',
  route: 'GET /api/admin/v1/audit',
  summary: 'List actions of operators',
  description:
    'Changes by the API and the command line, newest first. Each entry is written in the transaction of its change. Entries are ' +
    'never deleted, and change only if they name an erased person. Requests that failed or changed nothing are not listed.',
  query: strictQuery({
    accountId: idParameter('an account').optional(),
    operatorId: idParameter('an operator').optional(),
    ...numericIdPageParameters,
  }),
  data: z.strictObject({ actions: z.array(actionSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { accountId, operatorId, cursor: before, limit } }, { db }) => {
    const actions = await listOperatorActions(db, { accountId, operatorId, before, limit: limit + 1 });
    const { page, nextCursor } = cutPage(actions, limit, ({ actionId }) => String(actionId));
    return { actions: page.map(presentAction), nextCursor };
  },
});

function presentAction({ accountId, taskId, keyId, ...action }: RecordedAction) {
  const actor = { operatorId: null, userId: null, requestId: null, ...action.actor };
  return pickRowFieldsBySchema(actionSchema, {
    ...action,
    accountId,
    taskId,
    keyId,
    actor,
    createTime: action.createdAt,
  });
}

export const operatorAuditEndpoints = [list];
