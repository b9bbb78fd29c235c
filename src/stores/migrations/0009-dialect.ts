import { type Kysely, sql } from 'kysely';

/** The dialect of a key, and of a task: its callback speaks as the key that created it did, whatever becomes of that key. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table api_keys add column dialect text not null default 'native',
  add constraint dialect_is_known check (dialect in ('native', 'kie'));
-- Not valid: it holds for every new row, and rows with the default need not be read through while the table is locked.
alter table tasks add column dialect text not null default 'native',
  add constraint dialect_is_known check (dialect in ('native', 'kie')) not valid`.execute(db);
}
