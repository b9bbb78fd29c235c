import type { Database } from '../../../src/platform/database/database.ts';

/** Every row of every table that holds a word. */
export async function rowsWith(db: Database, word: string): Promise<readonly string[]> {
  const text = `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const found: string[] = [];
  for (const { name } of await db.run<{ name: string }>({ name: 'test-tables', text })) {
    const rows = await db.run<{ row: string }>(
      {
        name: `test-rows-${name}`,
        text: `select to_jsonb(t)::text as row from "${name}" t where to_jsonb(t)::text like '%' || $1 || '%'`,
      },
      [word],
    );
    found.push(...rows.map(({ row }) => `${name} ${row}`));
    // Answers of receivers are bytes.
    if (name === 'callback_attempts') {
      const heads = `select delivery_id from callback_attempts where position($1::bytea in response_head) > 0`;
      found.push(...(await db.run({ name: 'test-heads', text: heads }, [Buffer.from(word)])).map(() => name));
    }
  }
  return found;
}
