import { type Kysely, sql } from 'kysely';

/** What deletions need that are large, or race with a callback. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- No task of the account that was created later still says what it was about. Null is unknown.
alter table account_closures add column content_until timestamptz;
-- An attempt that is recorded while its delivery is deleted goes with it.
alter table callback_attempts
  drop constraint callback_attempts_task_id_fkey,
  add constraint callback_attempts_of_delivery foreign key (task_id) references callback_deliveries
    on delete cascade`.execute(db);
}
