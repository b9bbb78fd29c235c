// Parts of SQL texts that several statements share.

/** A list of string literals, as in `state in ('a', 'b')`. */
export function literalListSql(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(', ')})`;
}

export const leastIdSql = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** A time in Unix microseconds, the precision of a cursor. */
export function microsecondsSql(column: string): string {
  return `(extract(epoch from ${column}) * 1000000)::bigint`;
}

/** The position in a list by time, for rows that may be deleted or leave the list before the next page is read. */
export type TimedCursor = {
  /** Microseconds since 1970. */
  readonly atUs: number;
  readonly id: string;
};

/** The row that a page comes after, for a comparison with `(time, id)`. Without a cursor, the page begins at `start`. */
export function pageStartRowSql(timeUs: string, id: string, start: '-infinity' | 'infinity' = '-infinity'): string {
  return `(coalesce(timestamptz 'epoch' + ${timeUs}::float8 * interval '1 microsecond', '${start}'), coalesce(${id}::uuid, ${leastIdSql}))`;
}

/** Returns the fields of an object in the order of their names, as the values of a statement. */
export function pickFieldValues<Given, Name extends keyof Given>(
  given: Given,
  ...names: readonly Name[]
): Given[Name][] {
  return names.map((name) => given[name]);
}

/**
 * Numbers the parameters of a statement in the order of `types`, which has the SQL type of each. `$` has their positions by name, such
 * as `$3::text` for the third, and `values` returns what is bound to them. A field of `Given` without a parameter does not compile.
 */
export function namedParameters<Given>(types: Readonly<Record<keyof Given & string, string>>) {
  // The keys of the literal are those of its type.
  const names = Object.keys(types) as (keyof Given & string)[];
  const $ = Object.fromEntries(names.map((name, index) => [name, `$${index + 1}::${types[name]}`]));
  return {
    $: $ as Readonly<Record<keyof Given & string, string>>, // one for each name
    values: (given: Given): readonly unknown[] => pickFieldValues(given, ...names),
  };
}
