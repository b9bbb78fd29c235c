import { type Kysely, sql } from 'kysely';

/** Deletion on request: of what a task was about, and of an account. The ledger stays. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table tasks add column content_deleted_at timestamptz;
alter table accounts add column closed_at timestamptz;
-- As before, but that what a task was about may be taken out of its final row, once, and put back never.
create or replace function refuse_change_of_final_task() returns trigger language plpgsql as $$
declare
  may_change text[] := array['media_deleted_at'];
begin
  if old.content_deleted_at is null and new.content_deleted_at is not null then
    may_change := may_change || array['content_deleted_at', 'param', 'result', 'fail_msg', 'callback_url', 'request_sha256'];
  end if;
  if (to_jsonb(new) - may_change) is distinct from (to_jsonb(old) - may_change) then
    raise exception 'task % is final (%)', old.id, old.state using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
-- What is still to be deleted outside the database: written with the deletion, removed when all of it is gone. Almost always empty.
-- Without foreign keys, each of which would lock the table that it refers to.
create table content_deletions (
  task_id uuid primary key,
  account_id uuid not null,
  -- Images that the task was made with.
  upload_ids uuid[] not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  swept_at timestamptz
);
create index content_deletions_by_due on content_deletions (due_at, task_id);
create index content_deletions_by_account on content_deletions (account_id) where swept_at is null;
create table account_closures (
  account_id uuid primary key,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index account_closures_open on account_closures (created_at) where finished_at is null`.execute(db);
}
