import type { z } from 'zod';
import type { DeepReadonly } from '../endpoint.ts';

/** The fields of a view as a store gives them, which leaves out what a view says with null. */
type FieldsOf<View> = { readonly [Name in keyof View]: View[Name] | (null extends View[Name] ? undefined : never) };

/**
 * The fields of a row that its schema names, and no others: a row may hold more than its type says, and what is not named does not
 * leave the service.
 */
export function view<Schema extends z.ZodObject>(
  schema: Schema,
  row: FieldsOf<DeepReadonly<z.output<Schema>>>,
): DeepReadonly<z.output<Schema>> {
  const fields = new Map<string, unknown>(Object.entries(row));
  const named = Object.keys(schema.shape).map((name) => [name, fields.get(name) ?? null] as const);
  // The names of the schema with the values that the parameter's type asks for.
  return Object.fromEntries(named) as DeepReadonly<z.output<Schema>>;
}
