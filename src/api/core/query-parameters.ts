import { z } from 'zod';
import type { TimedCursor } from '../../platform/database/sql-fragments-and-parameters.ts';
import { uuidPattern } from '../../platform/text/uuid.ts';
import { maxSearchedTasks } from '../../tasks/list/task-filter.ts';
import { maxSearchLength, minIdPartLength } from '../../tasks/list/parse-task-search.ts';
import { type FieldMessage, maxUnixMs } from './request-fields.ts';

const maxLimit = 100;
const defaultLimit = 20;

/** Rejects unknown parameters, because ignoring a misspelled filter would return other rows than requested. */
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

export function idParameter(what: string) {
  return z.uuid({ error: onceOnly(`must be the id of ${what}`) });
}

export const taskSearchParameter = textParameter('must be text')
  .min(1)
  .max(maxSearchLength, { error: `must be at most ${maxSearchLength} characters` })
  .meta({
    description:
      `Part of the id, at least ${minIdPartLength} characters, or words that the prompt contains; the last word may be incomplete. Parts ` +
      `of ids are searched in the ${maxSearchedTasks.toLocaleString('en-US')} newest tasks between \`from\` and \`to\`. Words match ` +
      'nothing if the installation disables prompt search.',
  });

const dayError = onceOnly('must be a day since 1970, such as 2026-01-31');
/** PostgreSQL has no year 0000. */
export const dayParameter = z.iso.date({ error: dayError }).refine((day) => day >= '1970', { error: dayError });

export const booleanParameter = z
  .enum(['true', 'false'], { error: onceOnly('must be true or false') })
  .transform((text) => text === 'true')
  .meta({ type: 'boolean' });

export function wholeNumberParameter(
  min: number,
  max: number,
  message = `must be a whole number from ${min} to ${max}`,
) {
  return textParameter(message)
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

const cursorError = 'must be the nextCursor of an earlier response';
export const cursorTextParameter = textParameter(cursorError);

export function pageParametersWithCursor<Cursor extends z.ZodType>(cursor: Cursor) {
  return {
    cursor: cursor.optional(),
    limit: wholeNumberParameter(1, maxLimit).default(defaultLimit).meta({ default: defaultLimit }),
  };
}

export const idPageParameters = pageParametersWithCursor(z.uuid({ error: cursorError }));

const timedShape = new RegExp(`^(\\d{1,16})_(${uuidPattern})$`);

export const timedPageParameters = pageParametersWithCursor(
  cursorTextParameter.regex(timedShape, { error: cursorError }).transform((text): TimedCursor => {
    const [, atUs = '', id = ''] = timedShape.exec(text) ?? [];
    return { atUs: Number(atUs), id };
  }),
);

export function timedCursorText({ atUs, id }: TimedCursor): string {
  return `${atUs}_${id}`;
}

const timeError = 'must be a time in Unix milliseconds, such as 1793491200000';

export const createdBetweenParameters = {
  from: wholeNumberParameter(0, maxUnixMs, timeError)
    .meta({ description: 'Created at this Unix millisecond or later.' })
    .optional(),
  to: wholeNumberParameter(0, maxUnixMs, timeError)
    .meta({ description: 'Created before this Unix millisecond.' })
    .optional(),
};

export const numericIdPageParameters = pageParametersWithCursor(
  wholeNumberParameter(1, Number.MAX_SAFE_INTEGER).meta({ type: 'string', minimum: undefined, maximum: undefined }),
);

/** `rows` has one row more than `limit` if there is another page. */
export function cutPage<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string) {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, nextCursor: last === undefined ? null : cursorOf(last) };
}

export const nextCursorSchema = z
  .string()
  .nullable()
  .meta({ description: 'Pass it as `cursor` to get the next page; null on the last page.' });
