import { FileMigrationProvider, Kysely, Migrator, PostgresDialect } from 'kysely';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import pg from 'pg';

/** The files of this folder run in the order of their names. */
const migrationFolder = path.join(import.meta.dirname, 'migrations');
const provider = new FileMigrationProvider({ fs, path, migrationFolder });

/**
 * Brings the schema up to date in one transaction and returns the names of the migrations that ran. Of several processes one runs
 * them, and the others wait for it.
 */
export async function migrateToLatest(databaseUrl: string): Promise<readonly string[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  // A server that stops ends an idle connection with an error event; the error of the query is enough.
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

/** The names of the migrations that this release has. */
export async function listMigrations(): Promise<readonly string[]> {
  return Object.keys(await provider.getMigrations()).toSorted();
}
