import { z } from 'zod';
import { operatorActions } from '../../domain/operator.ts';
import { listActions, type RecordedAction } from '../../stores/operator-actions.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { unixMs } from '../fields.ts';
import { view } from '../presenters/view.ts';
import { cutPage, idParameter, nextCursorSchema, numberedPage, strictQuery } from '../query.ts';

const actorSchema = z.strictObject({
  kind: z.enum(['operator', 'user', 'command_line']),
  operatorId: z.string().nullable(),
  userId: z.string().nullable().meta({ description: 'Of an operator who was signed in to the console.' }),
  name: z.string().meta({
    description:
      "The operator's, the e-mail of a person in the console, or at the command line the user of the machine.",
  }),
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
    createTime: unixMs,
  })
  .meta({ id: 'OperatorAction' });

const list = defineEndpoint({
  operationId: 'adminListActions',
  route: 'GET /api/admin/v1/audit',
  summary: 'What operators have done',
  description:
    'Newest first; over the API and at the command line. An entry is written in the transaction of the change itself, and ' +
    'is never deleted, and changes only where it names a person who was erased. Requests that were refused, or changed nothing, are not listed.',
  query: strictQuery({
    accountId: idParameter('an account').optional(),
    operatorId: idParameter('an operator').optional(),
    ...numberedPage,
  }),
  data: z.strictObject({ actions: z.array(actionSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { accountId, operatorId, cursor: before, limit } }, { db }) => {
    const actions = await listActions(db, { accountId, operatorId, before, limit: limit + 1 });
    const { page, nextCursor } = cutPage(actions, limit, ({ actionId }) => String(actionId));
    return { actions: page.map(presentAction), nextCursor };
  },
});

function presentAction({ accountId, taskId, keyId, createdAt: createTime, ...action }: RecordedAction) {
  const actor = { operatorId: null, userId: null, requestId: null, ...action.actor };
  return view(actionSchema, { ...action, accountId, taskId, keyId, actor, createTime });
}

export const auditEndpoints = [list];
