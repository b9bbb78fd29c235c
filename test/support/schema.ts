import pg from 'pg';

/** Every object of a schema, a line each, in an order of its own: equal schemas have equal lines. */
export async function describeSchema(url: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly line: string }>(schemaLines);
    return rows.map(({ line }) => line);
  } finally {
    await client.end();
  }
}

// The constraints that "not null" makes from PostgreSQL 18 on are told by the columns. A column is named with its place.
const schemaLines = `
with relations as (
  select c.oid, c.relname, c.relkind, c.reloptions from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relname not like 'kysely%'
)
select line collate "C" as line from (
  select format('table %s %s %s', relname, relkind, reloptions) as line from relations where relkind in ('r', 'v', 'S')
  union all
  select format('column %s.%s %s %s%s default %s %s', relname, (select count(*) from pg_attribute o
      where o.attrelid = r.oid and o.attnum between 1 and a.attnum and not o.attisdropped), attname,
    format_type(atttypid, atttypmod), case when attnotnull then ' not null' else '' end,
    coalesce(pg_get_expr(d.adbin, d.adrelid), '-'), attidentity)
  from relations r join pg_attribute a on attrelid = r.oid and attnum > 0 and not attisdropped
  left join pg_attrdef d on d.adrelid = r.oid and d.adnum = attnum where relkind in ('r', 'v')
  union all
  select format('constraint %s.%s %s', relname, conname, pg_get_constraintdef(k.oid))
  from relations r join pg_constraint k on conrelid = r.oid and contype <> 'n'
  union all
  select format('index %s%s', pg_get_indexdef(indexrelid), case when indisvalid then '' else ' (invalid)' end)
  from relations r join pg_index on indrelid = r.oid
  union all
  select format('view %s %s', relname, pg_get_viewdef(oid)) from relations where relkind = 'v'
  union all
  select pg_get_triggerdef(t.oid) from relations r join pg_trigger t on tgrelid = r.oid and not tgisinternal
  union all
  select pg_get_functiondef(p.oid) from pg_proc p where pronamespace = 'public'::regnamespace
) as lines order by 1`;
