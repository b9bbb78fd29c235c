import { type Kysely, sql } from 'kysely';

/** Every callback is signed with the secrets of its account, and the only index knew the current ones alone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index callback_secrets_by_account on callback_secrets (account_id)`.execute(db);
}
