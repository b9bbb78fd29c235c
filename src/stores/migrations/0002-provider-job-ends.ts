import { type Kysely, sql } from 'kysely';

/** What a job's end was, so that a repeated step comes to the same end; and what is left to be tidied after a failed task. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table provider_jobs
  add column fail_code text,
  add column fail_msg text,
  add column settled_at timestamptz,
  add constraint failure_is_whole check ((fail_code is null) = (fail_msg is null));
-- A job that ended by itself needs no second look; one without an end, or one that we gave up, may still run upstream.
create index provider_jobs_unsettled on provider_jobs (intended_at, task_id, ordinal)
  where settled_at is null and (outcome is null or outcome = 'abandoned');
create index tasks_failed_with_media on tasks (completed_at) where state = 'fail' and media_deleted_at is null`.execute(
    db,
  );
}
