import { type Kysely, sql } from 'kysely';

/** The times of the last maintenance runs, and the cursors of loops that a run left unfinished. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table ledger_audit_progress rename to maintenance;
alter table maintenance
  drop column fresh_entry_id, drop column fresh_task_id,
  drop column pass_entry_id, drop column pass_task_id, drop column pass_account_id,
  add column fully_audited_at timestamptz,
  add column reconciled_at timestamptz;
-- Almost always empty.
create table sweep_cursors (
  name text primary key,
  after_row json not null
);
alter table account_closures drop column content_until`.execute(db);
}
