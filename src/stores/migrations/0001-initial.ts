import { type Kysely, sql } from 'kysely';

/** Accounts, keys, tasks, the ledger, provider jobs and callbacks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- The balance and the count of unfinished tasks live on one row, so that one locked row decides about a create.
create table accounts (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  balance bigint not null default 0 check (balance >= 0),
  unfinished_tasks integer not null default 0 check (unfinished_tasks >= 0),
  max_unfinished_tasks integer not null default 1000 check (max_unfinished_tasks >= 0),
  suspended_at timestamptz,
  created_at timestamptz not null default now()
) with (fillfactor = 50);
create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts,
  name text not null check (length(name) between 1 and 200),
  hash bytea not null unique check (length(hash) = 32),
  hint text not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_by_account on api_keys (account_id);
create table tasks (
  id uuid primary key,
  account_id uuid not null references accounts,
  model text not null,
  param json not null,
  state text not null default 'waiting' check (state in ('waiting', 'queuing', 'generating', 'success', 'fail')),
  credits_charged bigint not null check (credits_charged > 0),
  credits_refunded bigint not null default 0,
  fail_code text,
  fail_msg text,
  result json,
  callback_url text,
  idempotency_key text,
  request_sha256 bytea not null check (length(request_sha256) = 32),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  generation_started_at timestamptz,
  completed_at timestamptz,
  media_deleted_at timestamptz,
  constraint failed_is_refunded check (credits_refunded = case when state = 'fail' then credits_charged else 0 end),
  constraint failed_says_why check ((state = 'fail') = (fail_code is not null) and (state = 'fail') = (fail_msg is not null)),
  constraint success_has_result check ((state = 'success') = (result is not null)),
  constraint final_has_end check ((state in ('success', 'fail')) = (completed_at is not null))
) with (fillfactor = 80);
create unique index tasks_by_idempotency_key on tasks (account_id, idempotency_key) where idempotency_key is not null;
create index tasks_by_account on tasks (account_id, created_at desc, id desc);
create index tasks_unfinished on tasks (created_at) where state in ('waiting', 'queuing', 'generating');
create index tasks_with_media on tasks (completed_at) where state = 'success' and media_deleted_at is null;
-- The first final state wins, whoever comes second and by whatever statement; only media retention may touch the row.
create function refuse_change_of_final_task() returns trigger language plpgsql as $$
begin
  if (to_jsonb(new) - 'media_deleted_at') is distinct from (to_jsonb(old) - 'media_deleted_at') then
    raise exception 'task % is final (%)', old.id, old.state using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger final_tasks_never_change before update on tasks
  for each row when (old.state in ('success', 'fail')) execute function refuse_change_of_final_task();
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is not allowed', tg_op, tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger tasks_are_kept before delete or truncate on tasks for each statement execute function refuse_change();
create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  task_id uuid references tasks,
  kind text not null check (kind in ('grant', 'charge', 'refund', 'adjustment')),
  amount bigint not null,
  balance_after bigint not null check (balance_after >= 0),
  reason text check (length(reason) <= 500),
  created_at timestamptz not null default now(),
  constraint one_charge_one_refund unique (task_id, kind),
  constraint sign_fits_kind check (case kind when 'charge' then amount < 0 when 'adjustment' then amount <> 0 else amount > 0 end),
  constraint task_fits_kind check ((kind in ('charge', 'refund')) = (task_id is not null))
);
create index ledger_by_account on ledger_entries (account_id, id);
create trigger ledger_is_append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();
-- The intent is committed before a provider is asked, the job id right after; a row without job id is a call whose answer was lost.
create table provider_jobs (
  task_id uuid not null references tasks,
  ordinal integer not null check (ordinal > 0),
  provider text not null,
  job_id text,
  intended_at timestamptz not null default now(),
  submitted_at timestamptz,
  ended_at timestamptz,
  outcome text check (outcome in ('success', 'fail', 'not_created', 'abandoned', 'late_success')),
  primary key (task_id, ordinal)
);
create table callback_secrets (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  sealed text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create unique index one_current_callback_secret on callback_secrets (account_id) where expires_at is null;
create table callback_deliveries (
  task_id uuid primary key references tasks,
  account_id uuid not null references accounts,
  url text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'gone')),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint finished_has_end check ((state = 'pending') = (finished_at is null))
);
create index callback_deliveries_pending on callback_deliveries (created_at) where state = 'pending';
create table callback_attempts (
  task_id uuid not null references callback_deliveries,
  attempt integer not null check (attempt > 0),
  started_at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error text,
  response_head bytea check (length(response_head) <= 1024),
  primary key (task_id, attempt)
)`.execute(db);
}
