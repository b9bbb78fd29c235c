// Parts of SQL texts that several statements share.

/** A list of string literals, as in `state in ('a', 'b')`. */
export function literals(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(', ')})`;
}

export const leastId = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** A time in Unix microseconds, the precision of a cursor. */
export function microseconds(column: string): string {
  return `(extract(epoch from ${column}) * 1000000)::bigint`;
}

/** The position in a list by time, for rows that may be deleted or leave the list before the next page is read. */
export type TimedCursor = {
  /** Microseconds since 1970. */
  readonly atUs: number;
  readonly id: string;
};

/** The row that a page comes after, for a comparison with `(time, id)`. Without a cursor, the page begins at `start`. */
export function pageStart(timeUs: string, id: string, start: '-infinity' | 'infinity' = '-infinity'): string {
  return `(coalesce(timestamptz 'epoch' + ${timeUs}::float8 * interval '1 microsecond', '${start}'), coalesce(${id}::uuid, ${leastId}))`;
}
