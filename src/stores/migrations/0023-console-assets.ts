import { type Kysely, sql } from 'kysely';

/** The console's files of this release and of the ones before it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table console_assets (
  name text primary key,
  content bytea not null,
  -- When another release took over; null for the files of the current one.
  replaced_at timestamptz
)`.execute(db);
}
