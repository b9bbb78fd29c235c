import { type Kysely, sql } from 'kysely';

/**
 * The identity of this installation. Its result store has the same id in a file, and its workers use the same Temporal namespace. Both are
 * claimed by the first process that starts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table installation (
  id uuid not null default gen_random_uuid(),
  claimed_at timestamptz,
  marked_at timestamptz,
  temporal_namespace text,
  is_only boolean primary key default true check (is_only)
);
insert into installation default values`)
    .execute(db);
}
