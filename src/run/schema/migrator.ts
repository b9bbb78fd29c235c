import {
  FileMigrationProvider,
  Kysely,
  type Migration,
  type MigrationProvider,
  Migrator,
  PostgresDialect,
  sql,
} from 'kysely';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const migrationFolder = path.join(import.meta.dirname, 'migrations');
const files = new FileMigrationProvider({ fs, path, migrationFolder });

/**
 * While a migration waits for a lock, every later statement on that table waits behind it. So it waits briefly, and all migrations are
 * repeated after a pause, in which those statements run.
 */
const lockTimeout = '5s';
const pauseMs = 5_000;
const attempts = 20;

const provider: MigrationProvider = {
  getMigrations: async () => {
    const migrations = Object.entries(await files.getMigrations());
    return Object.fromEntries(migrations.map(([name, migration]) => [name, withLockTimeout(migration)] as const));
  },
};

/**
 * Runs the missing migrations in one transaction, in the order of their names, and returns those names. Concurrent processes wait for one
 * another. The schema of a later release has all that this one uses, and is left as it is, so that an operator can go back; `reportNewer`
 * receives the names of its further migrations.
 */
export async function migrateToLatest(
  databaseUrl: string,
  reportNewer: (names: readonly string[]) => void = () => {},
): Promise<readonly string[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  // Without a listener, an idle connection that breaks would end the process. The query reports the error.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { missing, newer } = await compare(db);
    if (newer.length > 0 && missing.length === 0) {
      reportNewer(newer);
      return [];
    }
    for (let attempt = 1; ; attempt += 1) {
      const { error, results = [] } = await new Migrator({ db, provider }).migrateToLatest();
      if (error === undefined) return results.map(({ migrationName }) => migrationName);
      if (!isLockTimeout(error) || attempt === attempts) throw error;
      await delay(pauseMs);
    }
  } finally {
    await db.destroy();
  }
}

/** Compares the migrations of this release with those that have run, of which there are none in an empty database. */
async function compare(db: Kysely<unknown>) {
  const required = await listMigrationsOfRelease();
  const { rows: tables } = await sql`select where to_regclass('kysely_migration') is not null`.execute(db);
  if (tables.length === 0) return { missing: required, newer: [] };
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const done = rows.map(({ name }) => name);
  return {
    missing: required.filter((name) => !done.includes(name)),
    newer: done.filter((name) => !required.includes(name)),
  };
}

/** Sets the timeout inside the transaction, because concurrent migrators may wait for one another without a limit. */
function withLockTimeout(migration: Migration): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await sql`set local lock_timeout = ${sql.lit(lockTimeout)}`.execute(db);
      await migration.up(db);
    },
  };
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

export async function listMigrationsOfRelease(): Promise<readonly string[]> {
  return Object.keys(await provider.getMigrations()).toSorted();
}

/** What an operator reads who goes back to this release. */
export function describeNewerSchema(names: readonly string[]): string {
  return `The schema is of a newer release (${names.join(', ')}); it is left as it is.`;
}
