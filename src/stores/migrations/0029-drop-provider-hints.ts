import { type Kysely, sql } from 'kysely';

/** Jobs at upstreams are only polled; the column held what upstreams announced. Its index goes with it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table provider_jobs drop column is_hinted`.execute(db);
}
