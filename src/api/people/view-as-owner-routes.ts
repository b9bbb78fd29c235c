import { z } from 'zod';
import { clearAccountView, beginAccountViewAs, accountViewMs } from '../../accounts/people/view-account-as-owner.ts';
import { meSchema, readMe } from '../sign-in/read-me-and-set-session-cookie.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { HttpError } from '../core/http-error.ts';
import { idField, reasonField } from '../core/request-fields.ts';

const begin = defineEndpoint({
  operationId: 'viewAccount',
  route: 'POST /api/console/v1/view',
  scope: 'session',
  summary: 'View an account as its owner sees it',
  description:
    `Only operators can. During ${accountViewMs / 60_000} minutes, this session can read what owners of the account read, and change nothing. The audit ` +
    'log records it. A member of the account keeps their own role there.',
  body: z.strictObject({ accountId: idField('an account'), reason: reasonField }),
  data: meSchema,
  failures: ['unknown_endpoint', 'account_not_found'],
  handler: async ({ session, input, ctx }, deps) => {
    // To anyone else the endpoint does not exist.
    if (!session.isOperator) throw new HttpError('unknown_endpoint');
    const { sessionId, userId, email: name } = session;
    const actor = { kind: 'user', userId, name, requestId: ctx.state.requestId } as const;
    if (!(await beginAccountViewAs(deps.db, actor, { sessionId, ...input }))) throw new HttpError('account_not_found');
    return readMe(deps, session);
  },
});

const end = defineEndpoint({
  operationId: 'endAccountView',
  route: 'POST /api/console/v1/view/end',
  scope: 'session',
  summary: 'End the view of an account',
  description: 'Idempotent.',
  data: meSchema,
  handler: async ({ session }, deps) => {
    await clearAccountView(deps.db, session.sessionId);
    return readMe(deps, session);
  },
});

export const viewAsOwnerEndpoints = [begin, end];
