import type { TaskRecord } from '../public-record.ts';

// Events of an account, which go to its event endpoint.

export const eventTypes = [
  'task.succeeded',
  'task.failed',
  'task.cancelled',
  'balance.low',
  // Of any cap: a key's, a member's or the account's.
  'key.cap_reached',
] as const;
export type EventType = (typeof eventTypes)[number];

type EventToSend = {
  readonly deliveryId: string;
  readonly event: EventType;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The data of an event that is about no task. */
  readonly details?: object | undefined;
};

/** The body of an event, as Standard Webhooks recommend it. `record`: that of its task. */
export function eventBody(
  { deliveryId, event, createdAt, details }: EventToSend,
  record: TaskRecord | undefined,
): string {
  const timestamp = new Date(createdAt).toISOString();
  return JSON.stringify({ eventId: deliveryId, type: event, timestamp, data: record ?? details });
}
