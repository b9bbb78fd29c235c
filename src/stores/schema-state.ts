import { one } from './statement.ts';

/** `missing` are those of the wanted migrations that have not run. */
export const readSchemaState = one<
  { readonly isReadOnly: boolean; readonly missing: readonly string[] },
  [wanted: readonly string[]]
>({
  name: 'read-schema-state',
  text: `
select current_setting('transaction_read_only')::boolean as "isReadOnly",
  array(select name from unnest($1::text[]) as name except select name from kysely_migration order by name) as missing`,
  values: (wanted) => [wanted],
});
