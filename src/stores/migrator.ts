import { FileMigrationProvider, Kysely, Migrator, PostgresDialect } from 'kysely';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import pg from 'pg';

/** The files of this folder run in the order of their names; a landed one is never edited. */
const migrationFolder = path.join(import.meta.dirname, 'migrations');

/**
 * Brings the schema up to date and answers the names of the migrations that ran. Several processes may run it at the same
 * time: Kysely's Migrator holds a lock. Throws the first migration's error; what ran before it stays.
 */
export async function migrateToLatest(databaseUrl: string): Promise<readonly string[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  // A server that stops ends an idle connection with an error event; the error of the query is enough.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const migrator = new Migrator({ db, provider: new FileMigrationProvider({ fs, path, migrationFolder }) });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    return results.map((result) => result.migrationName);
  } finally {
    await db.destroy();
  }
}
