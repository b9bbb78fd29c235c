import { type Kysely, sql } from 'kysely';

/** Who made a task, what an account's lists of entries and callbacks need, and images that clients upload. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- Without foreign keys: each would be a look-up and a lock on the way of every create, and neither keys nor users are ever deleted.
-- Both null in tasks that were started by hand.
alter table tasks
  add column key_id uuid,
  add column user_id uuid,
  add constraint one_maker check (key_id is null or user_id is null);
-- Images of clients in the result store. The row is there before the file, and goes after it.
create table uploads (
  id uuid primary key,
  account_id uuid not null references accounts,
  bytes integer not null check (bytes > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index uploads_by_account on uploads (account_id, expires_at);
create index uploads_by_expiry on uploads (expires_at);
create index tasks_failed_by_code on tasks (fail_code, created_at desc, id desc) where state = 'fail';
-- Beside the charges, which are nearly all entries, so that a list of the others does not read those. A create pays for neither.
create index ledger_refunds_by_account on ledger_entries (account_id, id) where kind = 'refund';
create index ledger_bookings_by_account on ledger_entries (account_id, id) where kind in ('grant', 'adjustment');
create index callback_deliveries_by_account on callback_deliveries (account_id, created_at desc, task_id desc);
create index callback_deliveries_undelivered_by_account on callback_deliveries (account_id, created_at desc, task_id desc)
  where state <> 'delivered'`.execute(db);
}
