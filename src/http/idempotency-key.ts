import { z } from 'zod';
import type { Context } from './context.ts';
import { invalidRequest } from './errors.ts';

const name = 'Idempotency-Key';
const shape = /^[\x21-\x7e]{1,255}$/;

const keySchema = z.string().regex(shape);

/** Documents an endpoint that takes a key, and one that cannot do without. */
export const idempotencyKeyHeader = z.object({
  [name]: keySchema
    .optional()
    .meta({ description: 'The same key and body get the first answer again; kept for as long as the task.' }),
});
export const requiredIdempotencyKeyHeader = z.object({
  [name]: keySchema.meta({
    description: 'The same key and body get the first answer again, for ever; with another body, 409.',
  }),
});

export const replayedHeader = { 'Idempotency-Replayed': '`true` when this is an earlier answer again.' };

/** The key that a request carries, undefined when it has none, or what is wrong with it. */
export function idempotencyKeyOf({ req }: Context) {
  const header = req.headers[name.toLowerCase()];
  const key = Array.isArray(header) ? header.join(', ') : header;
  if (key === undefined || shape.test(key)) return { key };
  return { error: { path: name, message: 'must be 1 to 255 visible ASCII characters' } };
}

/** Refuses a request that could not be repeated safely. */
export function requiredIdempotencyKey(ctx: Context): string {
  const { key, error } = idempotencyKeyOf(ctx);
  if (error !== undefined) throw invalidRequest([error]);
  if (key === undefined) throw invalidRequest([{ path: name, message: 'is required' }]);
  return key;
}
