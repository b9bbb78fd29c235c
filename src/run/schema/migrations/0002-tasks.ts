import { type Kysely, sql } from 'kysely';
import { taskStates } from '../../../catalogue/tasks/task.ts';
import { maxEndpointLength } from '../../../library/request-log/request-log-rows.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';
import { maxPriceNameLength } from '../../../catalogue/prices/model-prices.ts';
import { promptLexemesSql } from '../../../tasks/list/task-filter.ts';
import { finishedTaskSql, unfinishedTaskSql } from '../../../catalogue/tasks/task-state-sql.ts';

/** Tasks, what is deleted of them, and what is added up from them; the log of requests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- What a worker needs to follow a job, without secrets. Many jobs and tasks share one.
create table provider_configs (
  hash text primary key check (length(hash) = 64),
  config json not null check (octet_length(config::text) <= 65536)
);

create table tasks (
  id uuid primary key,
  account_id uuid not null references accounts,
  model text not null,
  param json not null,
  state text not null default 'waiting' check (state in ${literalListSql(taskStates)}),
  credits_charged bigint not null check (credits_charged > 0),
  credits_refunded bigint not null default 0,
  -- The price of its model that it was charged.
  price_name text not null check (length(price_name) between 1 and ${maxPriceNameLength}),
  fail_code text,
  fail_msg text,
  result json,
  -- Without foreign keys: each would cost every create a look-up and a lock. Both are null in tasks that an operator started by hand.
  key_id uuid,
  user_id uuid,
  callback_url text,
  -- The API that spells its callback: a dialect of a key, or a shape of src/api/dialects.
  dialect text not null default 'native',
  idempotency_key text,
  -- Created by a request that its client marked as a repeat.
  is_repeat boolean not null default false,
  request_sha256 bytea not null check (length(request_sha256) = 32),
  -- The catalogue's terms at acceptance, and since the workflow began the model's tiers.
  deadline_ms integer not null check (deadline_ms > 0),
  tiers_hash text references provider_configs,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  generation_started_at timestamptz,
  generation_spent_ms bigint not null default 0,
  attempt_started_at timestamptz,
  attempt_seen_at timestamptz,
  -- When the next attempt follows one that failed. It is not cleared by the end of the task.
  retry_at timestamptz,
  -- Since when the task's workflow has failed at its code.
  stuck_since timestamptz,
  media_deleted_at timestamptz,
  content_deleted_at timestamptz,
  constraint failed_is_refunded check (credits_refunded = case when state = 'fail' then credits_charged else 0 end),
  constraint failed_has_reason check ((state = 'fail') = (fail_code is not null) and (state = 'fail') = (fail_msg is not null)),
  constraint success_has_result check ((state = 'success') = (result is not null)),
  constraint final_has_end check ((${finishedTaskSql}) = (completed_at is not null)),
  constraint one_maker check (key_id is null or user_id is null)
) with (fillfactor = 80);
create unique index tasks_by_idempotency_key on tasks (account_id, idempotency_key) where idempotency_key is not null;
create index tasks_by_account on tasks (account_id, created_at desc, id desc);
create index tasks_by_creation on tasks (created_at desc, id desc);
create index tasks_by_completion on tasks (completed_at, id) where completed_at is not null;
create index tasks_by_prompt on tasks using gin (${promptLexemesSql});
-- A list of the few failed or unfinished tasks must not read all that succeeded.
create index tasks_failed_by_account on tasks (account_id, created_at desc, id desc) where state = 'fail';
create index tasks_failed_by_creation on tasks (created_at desc, id desc) where state = 'fail';
create index tasks_failed_by_code on tasks (fail_code, created_at desc, id desc) where state = 'fail';
create index tasks_unfinished on tasks (created_at) where ${unfinishedTaskSql};
create index tasks_unfinished_by_account on tasks (account_id, created_at desc, id desc) where ${unfinishedTaskSql};
create index tasks_stuck on tasks (stuck_since) where stuck_since is not null and ${unfinishedTaskSql};
create index tasks_with_content on tasks (completed_at) where completed_at is not null and content_deleted_at is null;
create index tasks_with_media on tasks (completed_at) where state = 'success' and media_deleted_at is null;
create index tasks_failed_with_media on tasks (completed_at) where state = 'fail' and media_deleted_at is null;
-- Failed tasks that were cleaned while an attempt could still be alive are cleaned once more.
create index tasks_failed_cleaned_early on tasks (completed_at)
  where state = 'fail' and media_deleted_at - completed_at < interval '26 hours';

-- The first final state wins, whichever statement comes second. Afterwards only media and content may be deleted, content once.
create function refuse_change_of_final_task() returns trigger language plpgsql as $$
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
create trigger final_tasks_never_change before update on tasks
  for each row when (old.${finishedTaskSql}) execute function refuse_change_of_final_task();
-- A refund is taken off the caps that counted the charge. It runs after the statement that refunds, which then holds the account's lock and
-- finds a cap that was set while it waited for that lock. A cap that has room again can be reached again.
create function restore_caps() returns trigger language plpgsql as $$
begin
  update spend_caps set spent = greatest(0, spent - new.credits_refunded),
    reached_in = case when spent - new.credits_refunded >= credits then reached_in end
  where account_id = new.account_id and new.created_at >= period_start
    and subject_id in (new.account_id, new.user_id, (select spend_subject from api_keys where id = new.key_id));
  return null;
end $$;
create trigger refunds_restore_caps after update of credits_refunded on tasks
  for each row when (new.credits_refunded > old.credits_refunded) execute function restore_caps();

create trigger tasks_are_never_deleted before delete or truncate on tasks for each statement execute function refuse_change();

-- Attempts at creates without an Idempotency-Key: those that were answered with the task of another attempt, and failed ones, whose
-- responses stated that nothing is charged. Without foreign keys, which would lock the tasks that they refer to.
create table create_attempts (
  attempt_id uuid primary key,
  -- Equal to attempt_id for the attempt that created the task.
  task_id uuid not null,
  is_failed boolean not null default false,
  created_at timestamptz not null default now()
);
create index create_attempts_by_task on create_attempts (task_id);
create index create_attempts_by_time on create_attempts (created_at);

-- Workflows to be terminated because their task is final: written with the refund, deleted afterwards. Almost always empty.
create table workflow_terminations (
  task_id uuid primary key references tasks,
  reason text not null,
  due_at timestamptz not null
);
create index workflow_terminations_by_due on workflow_terminations (due_at, task_id);

-- Files and histories that are still to be deleted: written with the deletion of a task's content. Almost always empty.
-- Without foreign keys, which would lock the rows that they refer to.
create table content_deletions (
  task_id uuid primary key,
  account_id uuid not null,
  -- The uploaded images that the task used.
  upload_ids uuid[] not null,
  due_at timestamptz not null default now(),
  swept_at timestamptz
);
create index content_deletions_by_due on content_deletions (due_at, task_id);
create index content_deletions_by_account on content_deletions (account_id) where swept_at is null;

-- Final tasks by the UTC day of their creation, added up after their end. A report of 90 days would read as many rows of tasks otherwise.
create table usage_days (
  account_id uuid not null,
  day date not null,
  model text not null,
  key_id uuid,
  user_id uuid,
  tasks integer not null,
  succeeded integer not null,
  failed integer not null,
  credits bigint not null,
  constraint one_row_per_usage unique nulls not distinct (account_id, day, model, key_id, user_id)
);

-- Those of them that succeeded, by the logarithm of the time from their acceptance to their end.
create table usage_latencies (
  account_id uuid not null,
  day date not null,
  model text not null,
  bucket smallint not null,
  tasks integer not null,
  primary key (account_id, day, model, bucket)
);

-- The accounts' API calls of seven days, written in batches. Without foreign keys, whose checks would lock rows that creates need.
create table api_requests (
  id uuid primary key,
  account_id uuid not null,
  key_id uuid,
  user_id uuid,
  ended_at timestamptz not null,
  duration_ms integer not null,
  method text not null,
  endpoint text not null check (length(endpoint) <= ${maxEndpointLength}),
  tool text,
  status integer,
  error_code text,
  task_id uuid
);
create index api_requests_by_account on api_requests (account_id, ended_at desc, id desc);
create index api_requests_by_time on api_requests (ended_at)`)
    .execute(db);
}
