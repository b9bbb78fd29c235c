import type { FieldError } from '../domain/field-errors.ts';

export const idempotencyHeader = 'Idempotency-Key';

/** The key that a request carries, `undefined` when it has none, or what is wrong with it. */
export function idempotencyKeyOf(header: string | undefined): { key: string | undefined } | { error: FieldError } {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return { key: header };
  return { error: { path: idempotencyHeader, message: 'must be 1 to 255 visible ASCII characters' } };
}
