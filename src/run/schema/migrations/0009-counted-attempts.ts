import { type Kysely, sql } from 'kysely';

/**
 * Several videos of one request can be repeated concurrently. `number`: how often the client had repeated the create; null if it does not count.
 * `is_read`, of the attempt that created its task: the client has read the task. `tasks.is_repeat` stays for the previous release.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table create_attempts
  add column number smallint check (number >= 0),
  add column is_read boolean not null default false`)
    .execute(db);
}
