import { z } from 'zod';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { deliveryFields, presentOwnDelivery } from './callback-view.ts';
import { eventTypes } from '../../tasks/callbacks/account-event-types-and-body.ts';
import type { DeliveryAttempt } from '../../tasks/callbacks/deliveries.ts';
import type { ListedEvent } from '../../tasks/callbacks/own-deliveries-and-redelivery.ts';

export const eventEndpointSchema = z
  .strictObject({
    url: z.string(),
    types: z.array(z.enum(eventTypes)).readonly(),
  })
  .meta({ id: 'EventEndpoint' });

export const eventSchema = z
  .strictObject({
    eventId: z.string(),
    type: z.enum(eventTypes),
    taskId: z.string().nullable().meta({ description: 'Null for an event that is about no task.' }),
    ...deliveryFields,
    createTime: unixMsSchema.meta({ description: 'When it happened.' }),
  })
  .meta({ id: 'Event' });

export function presentEvent(event: ListedEvent, attempts: readonly DeliveryAttempt[], nowMs: number) {
  const { deliveryId: eventId, event: type, taskId } = event;
  return pickRowFieldsBySchema(eventSchema, { eventId, type, taskId, ...presentOwnDelivery(event, attempts, nowMs) });
}
