import { z } from 'zod';
import { noTaskId, webhookId } from './callback.ts';
import { urlSchema } from '../tasks/request-text.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { HttpError, invalidRequest } from '../http/errors.ts';

/** Accounts with a running test in this process: one each, because receivers may be slow. */
const testing = new Set<string>();

export const testCallback = defineEndpoint({
  operationId: 'testCallback',
  route: 'POST /api/v1/callbacks/test',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Send a test callback',
  description:
    'Sends one signed callback about a task whose id is all zeros, and waits for the receiver, up to 15 seconds.',
  body: z.strictObject({ url: urlSchema(() => undefined) }),
  data: z.strictObject({
    webhookId: z.string(),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The response status of the receiver; null if it was unreachable.' }),
    delivered: z.boolean().meta({ description: 'True for any 2xx, which counts as delivered.' }),
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
