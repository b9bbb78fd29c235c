import { z } from 'zod';
import { validate as isUuid } from 'uuid';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { oneOf } from '../core/request-fields.ts';
import {
  cutPage,
  idPage,
  idParameter,
  nextCursorSchema,
  strictQuery,
  textParameter,
} from '../core/query-parameters.ts';
import { listLoggedRequests, maxEndpointLength, statusClasses } from '../../library/request-log/logged-requests.ts';
import { presentRequest, requestSchema } from './logged-request-view.ts';

const list = defineEndpoint({
  operationId: 'listRequests',
  route: 'GET /api/v1/requests',
  scope: 'tasks:read',
  summary: "List the account's requests",
  description:
    'Lists requests of the last seven days, also refused ones, newest first: every request with an API key, and changes by people in the ' +
    'console. A request appears about a second after its response. Requests whose key is invalid belong to no account.',
  query: strictQuery({
    status: oneOf(statusClasses).optional(),
    keyId: idParameter('a key').optional(),
    endpoint: textParameter('must be text')
      .min(1)
      .max(maxEndpointLength)
      .meta({ description: 'Part of the path.' })
      .optional(),
    error: textParameter('must be text').min(1).max(100).meta({ description: 'The stable error code.' }).optional(),
    requestId: textParameter('must be text').min(1).max(100).optional(),
    ...idPage,
  }),
  data: z.strictObject({ requests: z.array(requestSchema), nextCursor: nextCursorSchema }),
  handler: async ({ caller: { accountId }, query }, { db }) => {
    const { status: statusClass, keyId, endpoint, error: errorCode, requestId, cursor: after, limit } = query;
    // Ids are opaque: one in another format is not found.
    if (requestId !== undefined && !isUuid(requestId)) return { requests: [], nextCursor: null };
    const filter = { accountId, statusClass, keyId, endpoint, errorCode, requestId, after, limit: limit + 1 };
    const { page, nextCursor } = cutPage(await listLoggedRequests(db, filter), limit, (last) => last.requestId);
    return { requests: page.map(presentRequest), nextCursor };
  },
});

export const requestEndpoints = [list];
