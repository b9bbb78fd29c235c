import { type Kysely, sql } from 'kysely';

/** The reason of a suspension, which the members of the account read. Null for one that has no reason of its own, such as a closing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table accounts add column suspension_reason text`.execute(db);
}
