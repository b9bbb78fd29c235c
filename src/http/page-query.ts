import { z } from 'zod';

/** The last instant that PostgreSQL and JavaScript both know without losing a millisecond. */
export const maxUnixMs = 9_999_999_999_999;

const maxLimit = 100;
const defaultLimit = 20;

/** An error for a parameter that is missing its shape, or was given more than once. */
function once(otherwise: string) {
  return ({ input }: { readonly input?: unknown }) => (Array.isArray(input) ? 'must be given once' : otherwise);
}

/** One text parameter. */
export function textParameter(otherwise: string) {
  return z.string({ error: once(otherwise) });
}

/** One parameter that is a whole number from `min` to `max`. */
export function wholeParameter(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return textParameter(message)
    .regex(/^\d{1,16}$/, { error: message })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** `limit` of every list. */
export const limitParameter = wholeParameter(1, maxLimit)
  .optional()
  .transform((limit) => limit ?? defaultLimit)
  .meta({ type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit });

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

/** The last row of a page that has more behind it; lists are read with one row more than asked for. */
export function cutPage<Row>(rows: readonly Row[], limit: number): { page: readonly Row[]; last: Row | undefined } {
  const page = rows.slice(0, limit);
  return { page, last: rows.length > limit ? page.at(-1) : undefined };
}

export const nextCursorSchema = z
  .string()
  .nullable()
  .meta({ description: 'Give it as `cursor` to get the next page; null on the last one.' });
