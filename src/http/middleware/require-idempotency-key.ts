import { z } from 'zod';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency-key.ts';
import { invalidRequest } from '../invalid-request.ts';
import type { Step } from '../request-state.ts';

export type WithIdempotencyKey = { idempotencyKey: string };

/** For the description of an endpoint that cannot do without. */
export const requiredIdempotencyKey = z.object({
  [idempotencyHeader]: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .meta({ description: 'The same key and body get the first answer again, for ever; with another body, 409.' }),
});

/** Refuses a request that could not be repeated safely. */
export const requireIdempotencyKey: Step<WithIdempotencyKey> = async (ctx, next) => {
  const header = ctx.req.headers[idempotencyHeader.toLowerCase()];
  const found = idempotencyKeyOf(Array.isArray(header) ? header.join(', ') : header);
  if ('error' in found) throw invalidRequest([found.error]);
  if (found.key === undefined) throw invalidRequest([{ path: idempotencyHeader, message: 'is required' }]);
  ctx.state.idempotencyKey = found.key;
  await next();
};
