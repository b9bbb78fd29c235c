import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { type RefuseUrl, urlSchema } from '../../catalogue/input/url-schema-and-text-checks.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import { oneOf, uncheckedIdField, orNull, requiredOrInvalidMessage } from '../core/request-fields.ts';
import {
  cutPage,
  timedCursorText,
  timedPageParameters,
  nextCursorSchema,
  strictQuery,
} from '../core/query-parameters.ts';
import { webhookId } from '../../tasks/callbacks/deliveries.ts';
import { maxListedAttempts, deliveryStates, withAttempts } from '../../tasks/callbacks/deliveries.ts';
import { eventTypes } from '../../tasks/callbacks/account-event-types-and-body.ts';
import {
  findEventEndpoint,
  removeEventEndpoint,
  requestEventRedelivery,
  setEventEndpoint,
} from '../../tasks/callbacks/event-endpoint.ts';
import { eventEndpointSchema, eventSchema, presentEvent } from './event-view.ts';
import {
  listOwnEvents,
  maxRedelivered,
  makeFailedEventsPending,
} from '../../tasks/callbacks/own-deliveries-and-redelivery.ts';
import {
  type RedeliverDeps,
  redeliveredSchema,
  redeliverSinceSchema,
  startRedeliveries,
} from './redeliver-callbacks-and-events.ts';
import { accountEventSecretEndpoints } from './signing-secret-routes.ts';

const shown = z.strictObject({ endpoint: orNull(eventEndpointSchema) });

const show = defineEndpoint({
  operationId: 'getEventEndpoint',
  route: 'GET /api/v1/events/endpoint',
  scope: 'tasks:read',
  summary: 'Show the event endpoint',
  data: shown,
  handler: async ({ caller: { accountId } }, { db }) => ({
    endpoint: (await findEventEndpoint(db, accountId)) ?? null,
  }),
});

const typesError = `must be a list of ${eventTypes.join(', ')}`;

const set = defineEndpoint({
  operationId: 'setEventEndpoint',
  route: 'POST /api/v1/events/endpoint',
  scope: 'callbacks:secret',
  needsRecentProof: true,
  summary: 'Set the event endpoint',
  description:
    "Replaces the account's event endpoint. From now on, events of the given types are sent to it, signed and retried as callbacks are. " +
    'Events that are pending go to the new URL. `balance.low` needs a threshold: see `setLowBalance`.',
  body: z.strictObject({
    url: urlSchema(() => undefined),
    types: z.array(oneOf(eventTypes), { error: requiredOrInvalidMessage(typesError) }).min(1, { error: typesError }),
  }),
  data: shown,
  failures: ['account_closed'],
  handler: async (
    { caller: { accountId }, input: { url, types } },
    deps: WithDb & { readonly refuseCallbackUrl: RefuseUrl },
  ) => {
    const message = deps.refuseCallbackUrl(url);
    if (message !== undefined) throw invalidRequest([{ path: 'url', message }]);
    const endpoint = { url, types: [...new Set(types)] };
    await setEventEndpoint(deps.db, accountId, endpoint);
    return { endpoint };
  },
});

const remove = defineEndpoint({
  operationId: 'removeEventEndpoint',
  route: 'POST /api/v1/events/endpoint/remove',
  scope: 'callbacks:secret',
  needsRecentProof: true,
  summary: 'Remove the event endpoint',
  description: 'Records no further events, and abandons those that are pending: they become `failed`. Takes no body.',
  data: z.strictObject({ endpoint: z.null() }),
  failures: ['event_endpoint_not_found', 'account_closed'],
  handler: async ({ caller: { accountId } }, { db }) => {
    if (!(await removeEventEndpoint(db, accountId))) throw new HttpError('event_endpoint_not_found');
    return { endpoint: null };
  },
});

const list = defineEndpoint({
  operationId: 'listEvents',
  route: 'GET /api/v1/events',
  scope: 'tasks:read',
  summary: 'List events and their attempts',
  description: `Newest first, each with its latest ${maxListedAttempts} attempts.`,
  query: strictQuery({
    type: oneOf(eventTypes).optional(),
    state: oneOf(deliveryStates).optional(),
    ...timedPageParameters,
  }),
  data: z.strictObject({ events: z.array(eventSchema), nextCursor: nextCursorSchema }),
  handler: async ({ caller: { accountId }, query: { type, state, cursor: after, limit } }, { db }) => {
    const nowMs = Date.now();
    const found = await listOwnEvents(db, { accountId, type, state, after, limit: limit + 1, nowMs });
    const { page, nextCursor } = cutPage(found, limit, ({ atUs, deliveryId: id }) => timedCursorText({ atUs, id }));
    const listed = await withAttempts(db, page);
    return { events: listed.map((event) => presentEvent(event, event.attempts, nowMs)), nextCursor };
  },
});

const redeliver = defineEndpoint({
  operationId: 'redeliverEvent',
  route: 'POST /api/v1/events/redeliver',
  scope: 'tasks:write',
  summary: 'Redeliver an event',
  description:
    'Sends the event now, in any state of its delivery, to the current event endpoint, and retries for three days or until the receiver responds with 2xx or 410. ' +
    'The `webhook-id` stays the same; the record of a task is the current one.',
  body: z.strictObject({ eventId: uncheckedIdField }),
  data: z.strictObject({ eventId: z.string(), webhookId: z.string() }),
  failures: ['event_not_found', 'event_endpoint_not_found'],
  handler: async ({ caller: { accountId }, input: { eventId } }, deps: WithDb & RedeliverDeps) => {
    if (!isUuid(eventId)) throw new HttpError('event_not_found');
    requireExisting(await findEventEndpoint(deps.db, accountId), 'event_endpoint_not_found');
    const { deliveryId } = requireExisting(
      await requestEventRedelivery(deps.db, accountId, eventId),
      'event_not_found',
    );
    deps.redeliver({ deliveryId, accountId });
    return { eventId: deliveryId, webhookId: webhookId(deliveryId) };
  },
});

const redeliverAll = defineEndpoint({
  operationId: 'redeliverFailedEvents',
  route: 'POST /api/v1/events/redeliver-failed',
  scope: 'tasks:write',
  summary: 'Redeliver failed events',
  description:
    'Redelivers every event in the state `failed` that happened at `since` or later, to the present event endpoint. Sends at most ' +
    `${maxRedelivered} per request, oldest first: repeat the request while \`hasMore\` is true.`,
  body: redeliverSinceSchema,
  data: redeliveredSchema,
  failures: ['event_endpoint_not_found'],
  handler: async ({ caller: { accountId }, input }, deps: WithDb & RedeliverDeps) => {
    requireExisting(await findEventEndpoint(deps.db, accountId), 'event_endpoint_not_found');
    const owed = await makeFailedEventsPending(deps.db, { accountId, sinceMs: input.since, nowMs: Date.now() });
    return startRedeliveries(owed, accountId, deps);
  },
});

export const eventApiEndpoints = [show, set, remove, list, redeliver, redeliverAll, ...accountEventSecretEndpoints];
