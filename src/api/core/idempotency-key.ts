import { z } from 'zod';
import type { Context } from './request-context-and-responses.ts';
import { invalidRequest } from './http-error.ts';

const name = 'Idempotency-Key';
const shape = /^[\x21-\x7e]{1,255}$/;
const shapeError = 'must be 1 to 255 visible ASCII characters';
export const idempotencyKeySchema = z.string().regex(shape, { error: shapeError }).meta({
  description: 'Repeating a request with the same key and body returns the first response; another body gets 409.',
});

export const idempotencyKeyHeader = z.object({ [name]: idempotencyKeySchema.optional() });
export const requiredIdempotencyKeyHeader = z.object({ [name]: idempotencyKeySchema });
export const replayedHeader = { 'Idempotency-Replayed': '`true` if an earlier response is repeated.' };

export function readIdempotencyKeyOrError({ req }: Context) {
  const header = req.headers[name.toLowerCase()];
  const key = Array.isArray(header) ? header.join(', ') : header;
  if (key === undefined || shape.test(key)) return { key };
  return { error: { path: name, message: shapeError } };
}

export function requireIdempotencyKey(ctx: Context): string {
  const { key, error } = readIdempotencyKeyOrError(ctx);
  if (error !== undefined) throw invalidRequest([error]);
  if (key === undefined) throw invalidRequest([{ path: name, message: 'is required' }]);
  return key;
}
