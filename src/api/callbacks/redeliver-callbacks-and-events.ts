import { z } from 'zod';
import { maxUnixMs, wholeNumberField } from '../core/request-fields.ts';
import type { DeliveryToStart } from '../../catalogue/tasks/workflow-engine.ts';
import { maxRedelivered } from '../../tasks/callbacks/own-deliveries-and-redelivery.ts';

// The endpoints that redeliver failed callbacks (callback-routes.ts) and failed events (event-routes.ts) share these parts.

export const redeliverSinceSchema = z.strictObject({
  since: wholeNumberField(0, maxUnixMs).meta({ description: 'Unix milliseconds.' }),
});

export const redeliveredSchema = z.strictObject({
  redelivered: z.int().min(0).max(maxRedelivered),
  hasMore: z.boolean(),
});

type Owed = { readonly deliveryId: string };

/** `redeliver` works in the background and never throws. */
export type RedeliverDeps = { readonly redeliver: (delivery: DeliveryToStart) => void };

export function startRedeliveries(owed: readonly Owed[], accountId: string, { redeliver }: RedeliverDeps) {
  for (const { deliveryId } of owed) redeliver({ deliveryId, accountId });
  return { redelivered: owed.length, hasMore: owed.length === maxRedelivered };
}
