import { type Kysely, sql } from 'kysely';

/** Changes of jobs that upstreams have announced, until the worker that follows the job has asked about it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table provider_jobs add column is_hinted boolean not null default false;
create index provider_jobs_hinted on provider_jobs (task_id) where is_hinted and outcome is null`.execute(db);
}
