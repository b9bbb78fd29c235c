import { z } from 'zod';
import { securityEventKinds } from '../../accounts/people/security-events.ts';
import type { RecordedSecurityEvent } from '../../accounts/people/security-events.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { cutPage, nextCursorSchema } from '../core/query-parameters.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

const eventSchema = z
  .strictObject({
    eventId: z.int(),
    kind: z.enum(securityEventKinds),
    userId: z.string().nullable().meta({ description: 'The person whom the event concerns.' }),
    email: z.string().nullable(),
    accountId: z
      .string()
      .nullable()
      .meta({ description: 'Null if the event concerns the person in all their accounts.' }),
    actor: z
      .string()
      .nullable()
      .meta({ description: 'The person or operator who caused the event, if that was another one.' }),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    createTime: unixMsSchema,
  })
  .meta({ id: 'SecurityEvent' });

export const securityEventsSchema = z.strictObject({ events: z.array(eventSchema), nextCursor: nextCursorSchema });

/** `events`: one more than the limit, if there is a next page. */
export function presentSecurityEventPage(events: readonly RecordedSecurityEvent[], limit: number) {
  const { page, nextCursor } = cutPage(events, limit, ({ eventId }) => String(eventId));
  return { events: page.map(presentSecurityEvent), nextCursor };
}

export function presentSecurityEvent({ createdAt: createTime, details = {}, ...event }: RecordedSecurityEvent) {
  const { userId, email, accountId, actor, address, userAgent } = event;
  return pickRowFieldsBySchema(eventSchema, {
    ...event,
    userId,
    email,
    accountId,
    actor,
    address,
    userAgent,
    details,
    createTime,
  });
}
