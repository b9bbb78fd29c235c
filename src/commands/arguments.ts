import { InvalidArgumentError } from 'commander';
import { validate } from 'uuid';

/** A commander parser of whole numbers, not smaller than `min`. */
export function wholeNumber(min: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < min) {
      throw new InvalidArgumentError(`It must be a whole number, ${min} or more.`);
    }
    return value;
  };
}

/** A commander parser of ids (of accounts, keys and tasks). */
export function id(text: string): string {
  if (!validate(text)) throw new InvalidArgumentError('It must be an id such as 019abc12-3456-7def-8901-234567890abc.');
  return text.toLowerCase();
}

/** A commander parser of instants: ISO 8601, or a span from now such as 90d, 12h or 30m. Answers Unix milliseconds. */
export function instant(text: string): number {
  const [, count, unit] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return Date.now() + Number(count) * (spansMs[unit] ?? 0);
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs))
    throw new InvalidArgumentError('It must be an instant such as 2027-01-31T00:00:00Z, or a span such as 90d.');
  return atMs;
}

const minuteMs = 60_000;
const spansMs: Readonly<Record<string, number>> = { m: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs };
