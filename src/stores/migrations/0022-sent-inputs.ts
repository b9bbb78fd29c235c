import { type Kysely, sql } from 'kysely';

/** The input of a create whose response was lost, for the look-up of its job after the content of its task was deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table provider_jobs add column sent_input json`.execute(db);
}
