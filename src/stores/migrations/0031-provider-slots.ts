import { type Kysely, sql } from 'kysely';

/** The queues of tasks that wait for a slot of a provider, and the tiers of a task as a column of its own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
drop table place_waits;
create table slot_waits (
  pool text not null,
  task_id uuid not null references tasks,
  account_id uuid not null references accounts,
  -- Of the account: the task with the lowest turn is next.
  turn bigint not null,
  asked_at timestamptz not null default now(),
  due_at timestamptz not null,
  -- A free slot was offered to the task, which did not ask again since.
  offered_until timestamptz,
  primary key (pool, task_id)
);
-- None of these has a column that a repeated request changes, so that it changes the row alone.
create index slot_waits_in_order on slot_waits (pool, turn, asked_at, task_id);
create index slot_waits_by_account on slot_waits (pool, account_id, turn);
create index slot_waits_by_task on slot_waits (task_id);
create index slot_waits_by_age on slot_waits (asked_at);
alter table provider_pools add column turn bigint not null default 0;
alter table provider_jobs add column turn bigint;
alter table tasks add column tiers_hash text references provider_configs`.execute(db);
}
