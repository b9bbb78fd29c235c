import { z } from 'zod';
import { validate as isUuid } from 'uuid';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { oneOf, unixMsSchema } from '../core/request-fields.ts';
import {
  cutPage,
  idPageParameters,
  idParameter,
  nextCursorSchema,
  strictQuery,
  textParameter,
} from '../core/query-parameters.ts';
import {
  listLoggedRequests,
  maxEndpointLength,
  statusClasses,
  type LoggedRequest,
} from '../../library/request-log/request-log-rows.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { taskCreatorSchema } from '../tasks/task-view.ts';

const requestSchema = z
  .strictObject({
    requestId: z.string().meta({ description: 'The `X-Request-Id` of the response.' }),
    time: unixMsSchema.meta({ description: 'When the response ended, in Unix milliseconds.' }),
    durationMs: z.int().nonnegative(),
    method: z.string(),
    endpoint: z.string().meta({ description: 'The path, without the values of its parameters and without the query.' }),
    tool: z.string().nullable().meta({ description: 'The tool that an MCP request called.' }),
    status: z.int().nullable().meta({ description: 'Null if the client disconnected before the response began.' }),
    error: z.string().nullable().meta({ description: 'The stable error code of a refused request.' }),
    taskId: z.string().nullable().meta({ description: 'The task that a create made, or found for a repeat.' }),
    createdBy: taskCreatorSchema,
  })
  .meta({ id: 'LoggedRequest' });

export function presentLoggedRequest({ endedAt, errorCode, ...request }: LoggedRequest) {
  return pickRowFieldsBySchema(requestSchema, {
    ...request,
    time: endedAt,
    error: errorCode,
  });
}

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
    ...idPageParameters,
  }),
  data: z.strictObject({ requests: z.array(requestSchema), nextCursor: nextCursorSchema }),
  handler: async ({ caller: { accountId }, query }, { db }) => {
    const { status: statusClass, keyId, endpoint, error: errorCode, requestId, cursor: after, limit } = query;
    // Ids are opaque: one in another format is not found.
    if (requestId !== undefined && !isUuid(requestId)) return { requests: [], nextCursor: null };
    const filter = { accountId, statusClass, keyId, endpoint, errorCode, requestId, after, limit: limit + 1 };
    const { page, nextCursor } = cutPage(await listLoggedRequests(db, filter), limit, (last) => last.requestId);
    return { requests: page.map(presentLoggedRequest), nextCursor };
  },
});

export const requestLogEndpoints = [list];
