import { z } from 'zod';
import { defaultOverlapSeconds, maxOverlapSeconds } from '../domain/callback.ts';

// Schemas of request fields that several endpoints share. A message says what is allowed; that of a schema is also said when a
// check on the schema fails.

/**
 * The last instant that a request may name, in 2286. What is counted from it, such as the expiry of a rotated key, stays far
 * below the year 10000, in which PostgreSQL's text is no date for `Date.parse`.
 */
export const maxUnixMs = 9_999_999_999_999;

/** Credits in one request at most: beyond every purchase, and far from where whole numbers end. */
export const maxCredits = 1_000_000_000_000;

const maxLimit = 100;
const defaultLimit = 20;

export const unixMs = z.int().nonnegative();

type FieldMessage = string | ((issue: { readonly input?: unknown }) => string);

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

export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
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

/** An id in an operator's query. */
export function idParameter(what: string) {
  return z.uuid({ error: onceOnly(`must be the id of ${what}`) });
}

/** An id in a client's body. Ids are opaque to clients: what is no id of ours is simply not found. */
export const opaqueId = z.string({ error: required('must be a string') });

/** Why an operator does something; kept in the audit log. */
export const reasonField = plainText(500).meta({ description: 'Why; kept in the audit log.' });

/** For how long an old key or secret lives on beside its successor. */
const overlapError = `must be a whole number of seconds from 0 to ${maxOverlapSeconds}`;
export const overlapField = wholeNumber(0, maxOverlapSeconds, overlapError).default(defaultOverlapSeconds);

/** A query in which a misspelt parameter is refused rather than ignored: it would answer something else than was asked. */
export function strictQuery<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown parameter ${quoted(issue.keys).slice(0, 200)}; allowed: ${quoted(Object.keys(shape))}`
        : undefined,
  });
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

export function textParameter(otherwise: string) {
  return z.string({ error: onceOnly(otherwise) });
}

function onceOnly(otherwise: string): FieldMessage {
  return ({ input }) => (Array.isArray(input) ? 'must be given once' : otherwise);
}

/** One parameter that is a whole number from `min` to `max`. */
export function wholeParameter(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return textParameter(message)
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

export const createdBetween = {
  from: wholeParameter(0, maxUnixMs).meta({ description: 'Created at this Unix millisecond or later.' }).optional(),
  to: wholeParameter(0, maxUnixMs).meta({ description: 'Created before this Unix millisecond.' }).optional(),
};

const limitParameter = wholeParameter(1, maxLimit)
  .optional()
  .transform((limit) => limit ?? defaultLimit)
  .meta({ type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit });

export const cursorError = 'must be a nextCursor of an earlier answer';

export function pageFrom<Cursor extends z.ZodType>(cursor: Cursor) {
  return { cursor: cursor.optional(), limit: limitParameter };
}

export const idPage = pageFrom(z.uuid({ error: cursorError }));

export const numberedPage = pageFrom(
  wholeParameter(1, Number.MAX_SAFE_INTEGER).meta({ type: 'string', minimum: undefined, maximum: undefined }),
);

/** A page, and the cursor of the next one if there is more; lists are read with one row more than asked for. */
export function cutPage<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string) {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, nextCursor: last === undefined ? null : cursorOf(last) };
}

export const nextCursorSchema = z
  .string()
  .nullable()
  .meta({ description: 'Give it as `cursor` to get the next page; null on the last one.' });
