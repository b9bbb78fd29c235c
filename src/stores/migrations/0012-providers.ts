import { type Kysely, sql } from 'kysely';

/** Jobs at upstreams: their places, their frozen configuration, and what they cost. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- What is needed to speak to an upstream about a job; many jobs share one. The text of a described protocol is the largest part.
create table provider_configs (
  hash text primary key check (length(hash) = 64),
  created_at timestamptz not null default now(),
  config json not null check (octet_length(config::text) <= 65536)
);
-- A pool is a provider with one of its models.
alter table provider_jobs
  alter column intended_at drop not null,
  drop constraint provider_jobs_outcome_check,
  add constraint provider_jobs_outcome_check
    check (outcome in ('success', 'fail', 'not_created', 'refused', 'abandoned', 'late_success')),
  add column pool text,
  add constraint provider_jobs_pool_check check (length(pool) <= 250),
  add column account_id uuid,
  add column reserved_at timestamptz,
  add column config_hash text references provider_configs,
  add column handle json,
  add constraint provider_jobs_handle_check check (octet_length(handle::text) <= 4096),
  add column upstream_ended_at timestamptz,
  add column cost_micros bigint,
  add constraint provider_jobs_cost_micros_check check (cost_micros >= 0),
  add column cost_currency text,
  add constraint provider_jobs_cost_currency_check check (cost_currency ~ '^[A-Z]{3}$'),
  add column cost_basis text,
  add constraint provider_jobs_cost_basis_check check (cost_basis in ('reported', 'estimated', 'unknown')),
  add column detail text,
  add constraint provider_jobs_detail_check check (length(detail) <= 8192),
  add constraint cost_is_whole check ((cost_micros is null) = (cost_currency is null));
create table provider_pools (
  pool text primary key check (length(pool) <= 250),
  provider text not null,
  strikes integer not null default 0,
  cooling_until timestamptz,
  cooling_reason text check (cooling_reason in ('busy', 'overloaded', 'unreachable', 'operator', 'unknown'))
);
create index provider_pools_by_provider on provider_pools (provider);
create table provider_switches (
  provider text primary key,
  state text not null check (state in ('enabled', 'draining', 'off')),
  reason text not null check (length(reason) between 1 and 500),
  who text not null,
  changed_at timestamptz not null default now()
);
-- Tasks that wait for a place. A row counts for as long as its task asks again in time.
create table place_waits (
  task_id uuid not null references tasks,
  pool text not null,
  account_id uuid not null references accounts,
  asked_at timestamptz not null default now(),
  due_at timestamptz not null,
  primary key (pool, task_id)
);
create index place_waits_by_task on place_waits (task_id);
create index place_waits_by_due on place_waits (due_at);
-- The jobs that take a slot, and few others.
create index provider_jobs_in_pool on provider_jobs (pool)
  where pool is not null and upstream_ended_at is null and settled_at is null and (outcome is null or outcome = 'abandoned')`.execute(
    db,
  );
}
