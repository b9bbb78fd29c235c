import assert from 'node:assert/strict';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** The time of `now()`, and that of `clock_timestamp()`, which is later in a transaction that has waited. */
type Instants = { readonly now: string; readonly clock?: string };

export type FrozenDatabase = TestDatabase & { set(instants: Instants): Promise<void> };

// PostgreSQL finds functions along the search path, so those of another schema replace its own in statements, and new defaults
// replace those of columns.
const freeze = `
create schema frozen;
create table frozen.instants (now timestamptz, clock timestamptz);
insert into frozen.instants default values;
create function frozen.now() returns timestamptz stable language sql as 'select now from frozen.instants';
create function frozen.clock_timestamp() returns timestamptz stable language sql as 'select clock from frozen.instants';
do $$
declare
  own record;
begin
  for own in select table_name, column_name from information_schema.columns where table_schema = 'public' and column_default = 'now()' loop
    execute format('alter table %I alter %I set default frozen.now()', own.table_name, own.column_name);
  end loop;
  execute format('alter database %I set search_path = frozen, pg_catalog, public', current_database());
  -- The server may have any time zone; days and months are in UTC.
  execute format('alter database %I set timezone = %L', current_database(), 'America/New_York');
end $$`;

/** A database whose time stands still, so that no test runs across the end of a day. */
export async function createFrozenDatabase(instants: Instants): Promise<FrozenDatabase> {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(freeze);
  await client.end();
  const set = async ({ now, clock = now }: Instants) => {
    await database.db.run({ name: 'test-set-clock', text: 'update frozen.instants set now = $1, clock = $2' }, [
      now,
      clock,
    ]);
  };
  await set(instants);
  const [row] = await database.db.run<{ at: number }>({ name: 'test-read-clock', text: 'select now() as at' });
  assert.equal(row?.at, Date.parse(instants.now));
  return { ...database, set };
}
