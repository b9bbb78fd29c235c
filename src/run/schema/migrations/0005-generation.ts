import { type Kysely, sql } from 'kysely';
import type { GenerationQueue } from '../../../catalogue/models/models-served-by-workers.ts';
import {
  announcementLevels,
  maxAnnouncementLength,
  maxAnnouncementLinkLength,
} from '../../../accounts/operators/announcement.ts';
import { operatorActions } from '../../../accounts/operators/actors-and-actions.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';

const generationQueues = ['generation', 'generation-remote'] as const satisfies readonly GenerationQueue[];

/** Upstream jobs and their limits; operators and the audit log; maintenance. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- One create at an upstream. The intent is committed before the request and the job id right after it; an intended row without a
-- job id is a create whose response was lost. A row without an intent reserves a slot.
create table provider_jobs (
  task_id uuid not null references tasks,
  ordinal integer not null check (ordinal > 0),
  provider text not null,
  -- The provider with its model; null for a job on our own machine.
  pool text check (length(pool) <= 250),
  account_id uuid,
  ticket bigint,
  job_id text,
  handle json check (octet_length(handle::text) <= 4096),
  config_hash text references provider_configs,
  -- The input of a create whose response was lost, for the look-up of its job after the content of its task was deleted.
  sent_input json,
  -- Runs of the job whose connection broke.
  lost_runs integer not null default 0,
  reserved_at timestamptz,
  intended_at timestamptz,
  submitted_at timestamptz,
  upstream_ended_at timestamptz,
  ended_at timestamptz,
  -- When it became certain that nothing is left to be stopped upstream.
  settled_at timestamptz,
  outcome text check (outcome in ('success', 'fail', 'not_created', 'refused', 'abandoned', 'late_success')),
  -- The upstream refused the video that it made, and one more job may be made there.
  is_repeatable boolean not null default false,
  fail_code text,
  fail_msg text,
  detail text check (length(detail) <= 8192),
  cost_micros bigint check (cost_micros >= 0),
  cost_currency text check (cost_currency ~ '^[A-Z]{3}$'),
  cost_basis text check (cost_basis in ('reported', 'estimated', 'unknown')),
  primary key (task_id, ordinal),
  constraint cost_is_whole check ((cost_micros is null) = (cost_currency is null)),
  constraint failure_is_whole check ((fail_code is null) = (fail_msg is null))
);
-- An index entry cannot hold a job id of 4 kB.
create index provider_jobs_by_id on provider_jobs (provider, left(job_id, 1000)) where job_id is not null;
-- Creates whose response was lost, and whose job may exist.
create index provider_jobs_unanswered on provider_jobs (pool, intended_at)
  where job_id is null and intended_at is not null and (outcome is null or outcome = 'abandoned');
-- Jobs that may still run upstream.
create index provider_jobs_unsettled on provider_jobs (intended_at, task_id, ordinal)
  where settled_at is null and (outcome is null or outcome = 'abandoned');
-- The jobs that take a slot, and few others.
create index provider_jobs_in_pool on provider_jobs (pool)
  where pool is not null and upstream_ended_at is null and settled_at is null and (outcome is null or outcome = 'abandoned');
-- The jobs of a pool that ended last.
create index provider_jobs_by_end on provider_jobs (pool, ended_at) where pool is not null and ended_at is not null;

-- The circuit breakers of pools, and the turns that their queues have reached.
create table provider_pools (
  pool text primary key check (length(pool) <= 250),
  provider text not null,
  failures integer not null default 0,
  cooling_until timestamptz,
  cooling_reason text check (cooling_reason in ('busy', 'overloaded', 'unreachable', 'operator', 'unknown')),
  ticket bigint not null default 0
);
create index provider_pools_by_provider on provider_pools (provider);

-- Operators' switches; a provider without a row is enabled.
create table provider_switches (
  provider text primary key,
  state text not null check (state in ('enabled', 'draining', 'off')),
  reason text not null check (length(reason) between 1 and 500),
  who text not null,
  changed_at timestamptz not null default now()
);

-- Tasks that wait for a slot. The lowest ticket is next.
create table slot_waits (
  pool text not null,
  task_id uuid not null references tasks,
  account_id uuid not null references accounts,
  ticket bigint not null,
  queued_at timestamptz not null default now(),
  due_at timestamptz not null,
  -- Until when a free slot is offered to the task.
  offered_until timestamptz,
  primary key (pool, task_id)
);
-- A repeated request changes no indexed column.
create index slot_waits_in_order on slot_waits (pool, ticket, queued_at, task_id);
create index slot_waits_by_account on slot_waits (pool, account_id, ticket);
create index slot_waits_by_task on slot_waits (task_id);
create index slot_waits_by_age on slot_waits (queued_at);

-- The models that each worker can generate.
create table worker_reports (
  worker_id uuid not null,
  queue text not null check (queue in ${literalListSql(generationQueues)}),
  models text[] not null,
  refusal text,
  seen_at timestamptz not null default now(),
  primary key (worker_id, queue)
);

create table operators (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  hash bytea not null unique check (length(hash) = 32),
  hint text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);

-- The audit log. Without an operator or user, the action came from the command line.
create table operator_actions (
  id bigint generated always as identity primary key,
  operator_id uuid references operators,
  -- Without a foreign key: the id stays after the person is erased.
  user_id uuid,
  -- The name at that time.
  actor text not null check (length(actor) between 1 and 254),
  request_id text,
  action text not null check (action in ${literalListSql(operatorActions)}),
  account_id uuid references accounts,
  task_id uuid references tasks,
  key_id uuid references api_keys,
  details json not null,
  created_at timestamptz not null default now()
);
create index operator_actions_by_account on operator_actions (account_id, id) where account_id is not null;
create index operator_actions_by_operator on operator_actions (operator_id, id) where operator_id is not null;
create index operator_actions_by_user on operator_actions (user_id, id) where user_id is not null;
create index operator_actions_by_email on operator_actions ((details->>'email')) where details->>'email' is not null;
create index operator_actions_of_erasures on operator_actions ((details->>'userId')) where action = 'people.erase';
create trigger operator_actions_are_append_only before delete or truncate on operator_actions
  for each statement execute function refuse_change();
create trigger operator_actions_change_by_erasure_only before update on operator_actions for each statement
  when (current_setting('videogen.erasure', true) is distinct from 'on') execute function refuse_change();

-- What all pages of the console show; without a row they show nothing.
create table announcements (
  only_row boolean primary key default true check (only_row),
  text text not null check (length(text) between 1 and ${maxAnnouncementLength}),
  level text not null check (level in ${literalListSql(announcementLevels)}),
  link text check (length(link) <= ${maxAnnouncementLinkLength}),
  ends_at timestamptz
);

-- The times of the last maintenance runs, in one row.
create table maintenance (
  only_row boolean primary key default true check (only_row),
  audited_at timestamptz,
  fully_audited_at timestamptz,
  reconciled_at timestamptz,
  -- The last final task that usage_days and usage_latencies count, in the order of their ends.
  usage_counted_at timestamptz not null default '-infinity',
  usage_counted_id uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into maintenance default values;

-- Where loops over many rows stopped. Almost always empty.
create table sweep_cursors (
  name text primary key,
  after_row json not null
);

-- The console's files of the current release, and for a week those of earlier ones.
create table console_assets (
  name text primary key,
  content bytea not null,
  -- When another release took over; null for the files of the current one.
  replaced_at timestamptz
)`)
    .execute(db);
}
