import { type Kysely, sql } from 'kysely';

/** Runs of a job whose connection broke, which were repeated under the same name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table provider_jobs add column lost_runs integer not null default 0`.execute(db);
}
