import { type Kysely, sql } from 'kysely';

/** Ids of up to 4 kB do not fit into an index, their beginnings do. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create index provider_jobs_by_id on provider_jobs (provider, left(job_id, 1000)) where job_id is not null`.execute(db);
}
