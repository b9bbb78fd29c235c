import { z } from 'zod';
import { isBlank } from '../../catalogue/input/url-schema-and-text-checks.ts';
import { choiceMessage } from '../../platform/text/validation-messages.ts';
import { maxSecretOverlapSeconds } from '../../tasks/callbacks/signing-secret-rows.ts';
import { defaultSecretOverlapSeconds } from '../../tasks/callbacks/signing-secret-rows.ts';

// Fields that several endpoints share. Messages state what is allowed.

/** The latest time in a request, in 2286: times derived from it stay below the year 10000, which `Date.parse` cannot read. */
export const maxUnixMs = 9_999_999_999_999;

export const maxCredits = 1_000_000_000_000;

export const unixMsSchema = z.int().nonnegative();

export const notFutureTimeMessage = 'must be a future time in Unix milliseconds';

export type FieldMessage = string | ((issue: { readonly input?: unknown }) => string);

export function requiredOrInvalidMessage(otherwise: string): FieldMessage {
  return ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is required' : otherwise);
}

/** One line of text that is not blank. */
export function oneLineTextField(maxLength: number) {
  return z
    .string({
      error: requiredOrInvalidMessage(`must be 1 to ${maxLength} characters, and plain text`),
    })
    .min(1)
    .max(maxLength)
    .refine((text) => !isBlank(text) && isOneLine(text));
}

/** Bidirectional control characters could reorder a name and the text around it. */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(text);
}

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: ({ input }) => choiceMessage(input, values) });
}

export function wholeNumberField(
  min: number,
  max: number,
  error: FieldMessage = `must be a whole number from ${min} to ${max}`,
) {
  return z.int({ error }).min(min).max(max);
}

export function idField(what: string) {
  return z.uuid({ error: requiredOrInvalidMessage(`must be the id of ${what}`) });
}

/** Ids are opaque to clients: one in another format is not found, rather than invalid. */
export const uncheckedIdField = z.string({ error: requiredOrInvalidMessage('must be a string') });

export const reasonField = oneLineTextField(500).meta({ description: 'Recorded in the audit log.' });

const overlapError = `must be a whole number of seconds from 0 to ${maxSecretOverlapSeconds}`;
export const secretOverlapSecondsField = wholeNumberField(0, maxSecretOverlapSeconds, overlapError).default(
  defaultSecretOverlapSeconds,
);

/** A schema with a name in the documentation, or null. `nullable` would make each use of the name nullable, or lose the null. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}
