import { type Kysely, sql } from 'kysely';

/** What an account's own listings, keys and limits need. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- listTasks filters by state: without these, looking for the few failed or unfinished ones reads all that succeeded.
create index tasks_failed_by_account on tasks (account_id, created_at desc, id desc) where state = 'fail';
create index tasks_unfinished_by_account on tasks (account_id, created_at desc, id desc)
  where state in ('waiting', 'queuing', 'generating');
-- GCRA needs one instant per account: when the next create would be due if creates came evenly. The quota is this
-- account's own where it is set, else the installation's.
alter table accounts
  add column create_due_at timestamptz,
  add column create_quota integer check (create_quota > 0),
  add column create_window_ms integer check (create_window_ms > 0),
  add constraint create_quota_has_window check ((create_quota is null) = (create_window_ms is null))`.execute(db);
}
