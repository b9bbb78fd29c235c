import pg from 'pg';
import type { TestDatabase } from '../database/test-database.ts';

/** Writes what no program of ours could: as the superuser, with every trigger and foreign key out of force. */
export async function runAsSuperuser(
  { url }: Pick<TestDatabase, 'url'>,
  ...statements: readonly string[]
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
