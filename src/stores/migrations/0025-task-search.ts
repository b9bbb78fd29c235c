import type { OnlineChange } from '../online-changes.ts';

/** Nothing that a transaction does. */
export async function up(): Promise<void> {}

/** The words of prompts. The account is a lexeme among them, so that a search reads the entries of one account only. */
export const promptLexemes = `(array_to_tsvector(array[account_id::text]) || to_tsvector('simple', param->'input'->>'prompt'))`;

export const onlineChanges: readonly OnlineChange[] = [
  { index: 'tasks_by_prompt', on: `tasks using gin (${promptLexemes})` },
];
