import { z } from 'zod';
import { maxSearchLength } from '../domain/task-search.ts';
import { type FieldMessage, maxUnixMs } from './fields.ts';

// Schemas of queries, and the paging of lists.

const maxLimit = 100;
const defaultLimit = 20;

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

export const taskIdParameter = textParameter('is required').min(1);

/** An id in an operator's query. */
export function idParameter(what: string) {
  return z.uuid({ error: onceOnly(`must be the id of ${what}`) });
}

/** What to search for among tasks. */
export const taskSearchParameter = textParameter('must be a text')
  .min(1)
  .max(maxSearchLength, { error: `must be at most ${maxSearchLength} characters` })
  .meta({
    description:
      'Any part of the id, or words of the prompt, all of which it must hold; the last word may be unfinished. An installation may ' +
      'disable the search for words, which then find nothing.',
  });

/** A day of UTC, such as 2026-01-31. */
export const dayParameter = z.iso.date({ error: onceOnly('must be a day, such as 2026-01-31') });

/** One parameter that is a whole number from `min` to `max`. */
export function wholeParameter(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return textParameter(message)
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

const cursorError = 'must be a nextCursor of an earlier answer';
export const cursorParameter = textParameter(cursorError);

export function pageFrom<Cursor extends z.ZodType>(cursor: Cursor) {
  return {
    cursor: cursor.optional(),
    limit: wholeParameter(1, maxLimit).default(defaultLimit).meta({ default: defaultLimit }),
  };
}

export const idPage = pageFrom(z.uuid({ error: cursorError }));

export const createdBetweenPage = {
  from: wholeParameter(0, maxUnixMs).meta({ description: 'Created at this Unix millisecond or later.' }).optional(),
  to: wholeParameter(0, maxUnixMs).meta({ description: 'Created before this Unix millisecond.' }).optional(),
  ...idPage,
};

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
