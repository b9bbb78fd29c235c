import { z } from 'zod';
import { noTaskId, webhookId } from '../../domain/callback.ts';
import { urlSchema } from '../../domain/task-input.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { HttpError, invalidRequest } from '../errors.ts';

/** Accounts with a test under way in this process: one at a time, for a receiver may take its time. */
const testing = new Set<string>();

/** Tries a receiver before there is a task. */
export const testCallback = defineEndpoint({
  operationId: 'testCallback',
  route: 'POST /api/v1/callbacks/test',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Send a test callback to a receiver',
  description:
    'A callback about a task that does not exist, whose id is all zeros, signed as true ones are; it is sent once. The answer comes when ' +
    'the receiver has answered, or after 15 seconds when it cannot be reached.',
  body: z.strictObject({ url: urlSchema(() => undefined) }),
  data: z.strictObject({
    webhookId: z.string(),
    status: z.int().nullable().meta({ description: 'What the receiver answered; null when it could not be reached.' }),
    delivered: z.boolean().meta({ description: 'Whether a true callback would count as delivered: any 2xx.' }),
  }),
  failures: ['callback_test_running'],
  handler: async ({ caller: { accountId }, dialect, input: { url } }, deps) => {
    const message = deps.refuseCallbackUrl(url);
    if (message !== undefined) throw invalidRequest([{ path: 'url', message }]);
    if (testing.has(accountId)) throw new HttpError('callback_test_running');
    testing.add(accountId);
    try {
      const status = (await deps.testCallback({ accountId, url, dialect })) ?? null;
      return { webhookId: webhookId(noTaskId), status, delivered: status !== null && status >= 200 && status < 300 };
    } finally {
      testing.delete(accountId);
    }
  },
});
