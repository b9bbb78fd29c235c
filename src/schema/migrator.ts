import { FileMigrationProvider, Kysely, Migrator, PostgresDialect } from 'kysely';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import pg from 'pg';

const migrationFolder = path.join(import.meta.dirname, 'migrations');
const provider = new FileMigrationProvider({ fs, path, migrationFolder });

/**
 * Runs the missing migrations in one transaction, in the order of their names, which it returns. Concurrent processes wait for one
 * another.
 */
export async function migrateToLatest(databaseUrl: string): Promise<readonly string[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  // Without a listener, an idle connection that breaks would end the process. The query reports the error.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { error, results = [] } = await new Migrator({ db, provider }).migrateToLatest();
    if (error !== undefined) throw error;
    return results.map(({ migrationName }) => migrationName);
  } finally {
    await db.destroy();
  }
}

export async function listMigrations(): Promise<readonly string[]> {
  return Object.keys(await provider.getMigrations()).toSorted();
}
