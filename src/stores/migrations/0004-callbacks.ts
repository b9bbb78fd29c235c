import { type Kysely, sql } from 'kysely';

/** Redelivery, the time of the next attempt, and secrets that are shown to their owner once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- A round is one request to deliver, the first or a redelivery; what an attempt of an earlier round learns ends no later one.
alter table callback_deliveries
  add column round integer not null default 1 check (round > 0),
  add column due_at timestamptz not null default now();
drop index callback_deliveries_pending;
create index callback_deliveries_due on callback_deliveries (due_at, task_id) where state = 'pending';
alter table callback_secrets add column shown_at timestamptz`.execute(db);
}
