import { type Kysely, sql } from 'kysely';

/** The words of prompts. The account is a lexeme among them, so that a search reads the entries of one account only. */
export const promptLexemes = `(array_to_tsvector(array[account_id::text]) || to_tsvector('simple', param->'input'->>'prompt'))`;

/** The search in prompts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index tasks_by_prompt on tasks using gin (${sql.raw(promptLexemes)})`.execute(db);
}
