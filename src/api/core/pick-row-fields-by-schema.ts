import type { z } from 'zod';
import type { DeepReadonly } from './endpoint-spec.ts';

/** Stores omit fields that a view sets to null. */
type FieldsOf<View> = { readonly [Name in keyof View]: View[Name] | (null extends View[Name] ? undefined : never) };

/** Returns only the fields of the schema: a row may hold more than its type declares, and nothing else may leave the service. */
export function pickRowFieldsBySchema<Schema extends z.ZodObject>(
  schema: Schema,
  row: FieldsOf<DeepReadonly<z.output<Schema>>>,
): DeepReadonly<z.output<Schema>> {
  const fields = new Map<string, unknown>(Object.entries(row));
  const named = Object.keys(schema.shape).map((name) => [name, fields.get(name) ?? null] as const);
  // The parameter's type guarantees the values.
  return Object.fromEntries(named) as DeepReadonly<z.output<Schema>>;
}
