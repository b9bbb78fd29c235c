import { z } from 'zod';
import { webhookId } from '../../tasks/callbacks/deliveries.ts';
import { testTaskId } from '../../tasks/callbacks/send-test-callback.ts';
import { deliveryErrorSchema, deliveryErrorOfOutcome } from './callback-view.ts';
import { type RefuseUrl, urlSchema } from '../../catalogue/input/url-schema-and-text-checks.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import { oneOf } from '../core/request-fields.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import type { ReceiverErrorKind } from '../../tasks/callbacks/receiver-error.ts';
import type { TestCallbackRequest } from '../../tasks/callbacks/send-test-callback.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { eventTypes } from '../../tasks/callbacks/account-event-types-and-body.ts';
import { findEventEndpoint } from '../../tasks/callbacks/event-endpoint.ts';

/** Accounts with a running test in this process: one each, because receivers may be slow. */
const testing = new Set<string>();

const testOutcome = z.strictObject({
  webhookId: z.string(),
  status: z.int().nullable().meta({ description: 'The response status of the receiver; null if it was unreachable.' }),
  error: deliveryErrorSchema,
  delivered: z.boolean().meta({ description: 'True for any 2xx, which counts as delivered.' }),
});

type TestDeps = {
  /** Posts a test callback, or a test event, about a task that does not exist. Returns the receiver's status, or why it gave none. */
  readonly testCallback: (test: TestCallbackRequest) => Promise<number | ReceiverErrorKind>;
};

export const sendTestCallbackEndpoint = defineEndpoint({
  operationId: 'testCallback',
  route: 'POST /api/v1/callbacks/test',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Send a test callback',
  description:
    'Sends one signed callback about a task whose id is all zeros, and waits for the receiver, up to 15 seconds.',
  body: z.strictObject({ url: urlSchema(() => undefined) }),
  data: testOutcome,
  failures: ['callback_test_running', 'tests_busy'],
  handler: async (
    { caller: { accountId }, dialect, input: { url } },
    deps: TestDeps & { readonly refuseCallbackUrl: RefuseUrl },
  ) => {
    const message = deps.refuseCallbackUrl(url);
    if (message !== undefined) throw invalidRequest([{ path: 'url', message }]);
    return sendTest(deps, { accountId, url, dialect });
  },
});

export const sendTestEventEndpoint = defineEndpoint({
  operationId: 'testEventEndpoint',
  route: 'POST /api/v1/events/test',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Send a test event',
  description:
    "Sends one signed event to the account's event endpoint, about a task or balance that does not exist, and waits for the receiver, " +
    'up to 15 seconds. Its id is all zeros.',
  body: z.strictObject({ type: oneOf(eventTypes).default('task.succeeded') }),
  data: testOutcome,
  failures: ['event_endpoint_not_found', 'callback_test_running', 'tests_busy'],
  handler: async ({ caller: { accountId }, input: { type } }, deps: WithDb & TestDeps) => {
    const { url } = requireExisting(await findEventEndpoint(deps.db, accountId), 'event_endpoint_not_found');
    return sendTest(deps, { accountId, url, dialect: 'native', event: type });
  },
});

async function sendTest(deps: TestDeps, test: TestCallbackRequest) {
  const { accountId } = test;
  if (testing.has(accountId)) throw new HttpError('callback_test_running');
  testing.add(accountId);
  try {
    const outcome = await deps.testCallback(test);
    const status = typeof outcome === 'number' ? outcome : null;
    const delivered = status !== null && status >= 200 && status < 300;
    return { webhookId: webhookId(testTaskId), status, error: deliveryErrorOfOutcome(outcome), delivered };
  } catch (error) {
    // Other accounts test the same host, or this process is closing.
    if (error instanceof OutboundError) throw new HttpError('tests_busy');
    throw error;
  } finally {
    testing.delete(accountId);
  }
}
