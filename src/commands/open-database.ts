import type { Config } from '../config.ts';
import { lockDataFolder } from '../embedded/data-folder.ts';
import { findPostgres, postgresFolder, startPostgres } from '../embedded/postgres.ts';
import { createDatabase, type Database } from '../stores/database.ts';

/** Runs a command on the database of `withDatabaseUrl`. An embedded one that is started for it has today's schema. */
export function withDatabase<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  return withDatabaseUrl(config, async (url) => {
    if (config.databaseUrl === undefined) await (await import('../stores/migrator.ts')).migrateToLatest(url);
    const db = createDatabase({ url, poolSize: 2 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });
}

/**
 * Gives a command the address of the database: DATABASE_URL, else the embedded one; that of the running service, or one
 * started for as long as the command takes.
 */
export async function withDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const url = config.databaseUrl ?? (await findPostgres(postgresFolder(config)));
  if (url !== undefined) return work(url);
  const lock = await lockDataFolder(config.dataFolder);
  try {
    const server = await startPostgres({ folder: postgresFolder(config), log: () => {} });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    await lock.release();
  }
}
