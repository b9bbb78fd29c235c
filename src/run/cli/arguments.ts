import { InvalidArgumentError } from 'commander';
import { validate } from 'uuid';
import { z } from 'zod';
import { millisecondsOfUnit } from '../../platform/timing/parse-rate-and-rate-left.ts';
import { maxUnixMs } from '../../api/core/request-fields.ts';
import { idempotencyKeySchema } from '../../api/core/idempotency-key.ts';

// Parsers for commander.

export function wholeNumberParser(min: number, max = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      const bound = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
      throw new InvalidArgumentError(`It must be a whole number, ${bound}.`);
    }
    return value;
  };
}

export function parseId(text: string): string {
  if (!validate(text)) throw new InvalidArgumentError('It must be an id such as 019abc12-3456-7def-8901-234567890abc.');
  return text.toLowerCase();
}

/** The option that names an account in every command. The runner replaces the name by the id (database-and-temporal-for-commands.ts). */
export const accountOption = ['--account <account>', 'account, by id or name', accountIdOrName] as const;

function accountIdOrName(text: string): string {
  return validate(text) ? text.toLowerCase() : textParser(maxNameLength)(text);
}

const date = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** RFC 3339, or a span from now such as 90d, 12h or 30m. Returns Unix milliseconds. */
export function parseInstantOrSpanMs(text: string): number {
  const [, count, unit] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  const isSpan = count !== undefined && unit !== undefined;
  const atMs = isSpan
    ? Date.now() + Number(count) * (millisecondsOfUnit[unit] ?? 0)
    : Date.parse(date.safeParse(text).data ?? '');
  if (Number.isNaN(atMs))
    throw new InvalidArgumentError('It must be an instant such as 2027-01-31T00:00:00Z, or a span such as 90d.');
  if (atMs > maxUnixMs) throw new InvalidArgumentError(`It must not be after ${new Date(maxUnixMs).toISOString()}.`);
  return atMs;
}

export function parseFutureInstantMs(text: string): number {
  const atMs = parseInstantOrSpanMs(text);
  if (atMs <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return atMs;
}

export function textParser(maxLength: number) {
  return (text: string): string => {
    // PostgreSQL counts code points, and cannot store NUL.
    if (text.trim() === '' || [...text].length > maxLength || text.includes('\0'))
      throw new InvalidArgumentError(`It must be 1 to ${maxLength} characters.`);
    return text;
  };
}

export function parseIdempotencyKey(text: string): string {
  if (!idempotencyKeySchema.safeParse(text).success)
    throw new InvalidArgumentError('It must be 1 to 255 visible ASCII characters.');
  return text;
}

export const maxNameLength = 200;
