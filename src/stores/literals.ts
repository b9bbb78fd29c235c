/** A SQL list of these string literals, as in `state in ('a', 'b')`. */
export function literals(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(', ')})`;
}
