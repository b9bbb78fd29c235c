import { z } from 'zod';
import { defaultOverlapSeconds, maxOverlapSeconds } from '../domain/callback.ts';

// Schemas of the fields of bodies and answers that several endpoints share. A message says what is allowed; that of a schema is also said when a
// check on the schema fails.

/**
 * The last instant that a request may name, in 2286. What is counted from it, such as the expiry of a rotated key, stays far
 * below the year 10000, in which PostgreSQL's text is no date for `Date.parse`.
 */
export const maxUnixMs = 9_999_999_999_999;

/** Credits in one request at most: beyond every purchase, and far from where whole numbers end. */
export const maxCredits = 1_000_000_000_000;

export const unixMs = z.int().nonnegative();

export type FieldMessage = string | ((issue: { readonly input?: unknown }) => string);

/** What a field is refused with when it is there. */
export function required(otherwise: string): FieldMessage {
  return ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is required' : otherwise);
}

/** A text that a person wrote: 1 to `maxLength` characters, not only white space, nothing that a line cannot show. */
export function plainText(maxLength: number) {
  return z
    .string({ error: required(`must be 1 to ${maxLength} characters, and plain text`) })
    .min(1)
    .max(maxLength)
    .refine((text) => /\S/.test(text) && isOneLine(text));
}

/** Bidirectional control characters would show a name, or the text around it, in another order than it has. */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(text);
}

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

export function wholeNumber(
  min: number,
  max: number,
  error: FieldMessage = `must be a whole number from ${min} to ${max}`,
) {
  return z.int({ error }).min(min).max(max);
}

/** An id in the body of an operator's request. */
export function idField(what: string) {
  return z.uuid({ error: required(`must be the id of ${what}`) });
}

/** An id in a client's body. Ids are opaque to clients: what is no id of ours is simply not found. */
export const opaqueId = z.string({ error: required('must be a string') });

/** Why an operator does something; kept in the audit log. */
export const reasonField = plainText(500).meta({ description: 'Why; kept in the audit log.' });

/** For how long an old key or secret lives on beside its successor. */
const overlapError = `must be a whole number of seconds from 0 to ${maxOverlapSeconds}`;
export const overlapField = wholeNumber(0, maxOverlapSeconds, overlapError).default(defaultOverlapSeconds);
