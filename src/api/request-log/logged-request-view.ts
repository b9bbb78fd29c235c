import { z } from 'zod';
import { unixMs } from '../core/request-fields.ts';
import { view } from '../core/view.ts';
import { makerSchema } from '../tasks/task-view.ts';
import type { LoggedRequest } from '../../library/request-log/logged-requests.ts';

export const requestSchema = z
  .strictObject({
    requestId: z.string().meta({ description: 'The `X-Request-Id` of the response.' }),
    time: unixMs.meta({ description: 'When the response ended, in Unix milliseconds.' }),
    durationMs: z.int().nonnegative(),
    method: z.string(),
    endpoint: z.string().meta({ description: 'The path, without the values of its parameters and without the query.' }),
    tool: z.string().nullable().meta({ description: 'The tool that an MCP request called.' }),
    status: z.int().nullable().meta({ description: 'Null if the client disconnected before the response began.' }),
    error: z.string().nullable().meta({ description: 'The stable error code of a refused request.' }),
    taskId: z.string().nullable().meta({ description: 'The task that a create made, or found for a repeat.' }),
    createdBy: makerSchema,
  })
  .meta({ id: 'LoggedRequest' });

export function presentRequest({ endedAt, errorCode, ...request }: LoggedRequest) {
  return view(requestSchema, {
    ...request,
    time: endedAt,
    error: errorCode,
  });
}
