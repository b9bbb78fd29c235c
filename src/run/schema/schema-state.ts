import { one } from '../../platform/database/declare-statements.ts';

/** Compares the migrations that have run with those of this release; `newer` are of a later one. */
export const readSchemaState = one<
  {
    readonly now: number;
    readonly isReadOnly: boolean;
    readonly missing: readonly string[];
    readonly newer: readonly string[];
  },
  [required: readonly string[]]
>({
  name: 'read-schema-state',
  text: `
select (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
  current_setting('transaction_read_only')::boolean as "isReadOnly",
  array(select name from unnest($1::text[]) as name except select name from kysely_migration order by name) as missing,
  array(select name from kysely_migration except select name from unnest($1::text[]) as name order by name) as newer`,
  values: (required) => [required],
});
