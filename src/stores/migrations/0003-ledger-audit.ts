import { type Kysely, sql } from 'kysely';

/** What the audit that runs every minute must remember: how far it has read, and what is wrong until it is put right. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- A task that ends in success leaves no line in the ledger, so its end is found by its time.
create index tasks_by_completion on tasks (completed_at, id) where completed_at is not null;
-- The first two cursors follow the newest rows, the next three go round and round over everything.
create table ledger_audit_progress (
  the_row boolean primary key default true check (the_row),
  fresh_entry_id bigint not null default 0,
  fresh_task_id uuid,
  pass_entry_id bigint not null default 0,
  pass_task_id uuid,
  pass_account_id uuid,
  audited_at timestamptz
);
insert into ledger_audit_progress default values;
create table ledger_violations (
  rule text not null,
  account_id uuid,
  entry_id bigint,
  task_id uuid,
  detail text not null,
  found_at timestamptz not null default now(),
  constraint one_row_per_violation unique nulls not distinct (rule, account_id, entry_id, task_id)
)`.execute(db);
}
