import { type Kysely, sql } from 'kysely';

/** The open invitations of operators. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create index one_time_links_of_operators on one_time_links (id) where makes_operator and used_at is null and withdrawn_at is null`.execute(
    db,
  );
}
