import { FileMigrationProvider, Kysely, type Migration, Migrator, PostgresDialect, sql } from 'kysely';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { errorCode, SetupError } from '../domain/errors.ts';
import { isMade, make, type OnlineChange } from './online-changes.ts';

// Migrations beside traffic. Each `up` is a transaction of its own, which changes only the catalogue of a table that exists: it reads
// and writes none of its rows. What has to read a table through, an index or the check of a constraint, is an `onlineChanges` of the
// file, made afterwards without locking out writers.

/** The files of this folder run in the order of their names; a landed one is never edited in what it makes. */
const migrationFolder = path.join(import.meta.dirname, 'migrations');

/** A statement that waits for its lock holds up all that come after it, so it gives up soon, and is tried again. */
const lockTimeoutMs = 50;
const retryPauseMs = 500;
/** Far above any statement of the service; what holds a lock for longer is an operator's own session. */
const retryLimitMs = 10 * 60_000;
/** Of PostgreSQL. */
const [lockNotAvailable, deadlock] = ['55P03', '40P01'];
/** One migrator works at a time. */
const migratorLock = 7_206_115;

export type MigrateOptions = {
  /** The last one to run; all by default. */
  readonly to?: string;
  /** Told of every attempt that did not get a lock. */
  readonly onRetry?: () => void;
};

/**
 * Brings the schema up to date and answers the names of the migrations that had something to do. Several processes may run it at the
 * same time, and one that was killed is carried on by the next. Throws the first migration's error; what ran before it stays.
 */
export async function migrateToLatest(databaseUrl: string, options: MigrateOptions = {}): Promise<readonly string[]> {
  // The session holds a lock, so it must not be given up while it waits.
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 0 });
  // A server that stops ends an idle connection with an error event; the error of the query is enough.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await lockMigrator(db);
    const migrator = new Migrator({ db, provider: new FileMigrationProvider({ fs, path, migrationFolder }) });
    // Nobody works with a new database, so all of it is made faster at one time.
    const isNew = (await lastOf(migrator)) === undefined && options.to === undefined;
    const ran = isNew ? await runAtOnce(migrator) : await runEach(db, migrator, options);
    const completed = await changeOnline(db, migrator, { isNew });
    return [...new Set([...ran, ...completed])].toSorted();
  } finally {
    await db.destroy();
  }
}

/** The names of the migrations that this release has, and of the indexes and checks that they leave to be made beside traffic. */
export async function listMigrations() {
  const migrations = await new FileMigrationProvider({ fs, path, migrationFolder }).getMigrations();
  const changes = Object.values(migrations).flatMap(changesOf);
  return {
    names: Object.keys(migrations).toSorted(),
    indexes: changes.flatMap((change) =>
      'index' in change && !isDropped(change.index, changes) ? [change.index] : [],
    ),
    constraints: changes.flatMap((change) => ('constraint' in change ? [change.constraint] : [])),
  };
}

/** Asks again and again: a session that waited for the lock would itself be waited for by the index that another one builds. */
async function lockMigrator(db: Kysely<unknown>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ isMine: boolean }>`select pg_try_advisory_lock(${migratorLock}) as "isMine"`.execute(
      db,
    );
    if (rows[0]?.isMine === true) return;
    await delay(retryPauseMs);
  }
}

async function runAtOnce(migrator: Migrator): Promise<readonly string[]> {
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}

async function runEach(db: Kysely<unknown>, migrator: Migrator, options: MigrateOptions): Promise<readonly string[]> {
  await sql`set lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(db);
  const ran: string[] = [];
  for (;;) {
    if (options.to !== undefined && (await lastOf(migrator)) === options.to) return ran;
    const name = await runNext(migrator, options);
    if (name === undefined) return ran;
    ran.push(name);
  }
}

async function lastOf(migrator: Migrator): Promise<string | undefined> {
  return (await migrator.getMigrations()).findLast(({ executedAt }) => executedAt !== undefined)?.name;
}

/** The name of the migration that ran; undefined when none is left. */
async function runNext(migrator: Migrator, { onRetry }: MigrateOptions): Promise<string | undefined> {
  for (const giveUpAt = Date.now() + retryLimitMs; ; await delay(retryPauseMs)) {
    const { error, results = [] } = await migrator.migrateUp();
    if (error === undefined) return results[0]?.migrationName;
    const isBusy = [lockNotAvailable, deadlock].includes(errorCode(error) ?? '');
    if (!isBusy) throw error;
    onRetry?.();
    if (Date.now() > giveUpAt) throw heldUp(results[0]?.migrationName, error);
  }
}

function heldUp(migration: string | undefined, cause: unknown): SetupError {
  const why = 'another session has held a lock on a table for ten minutes; see pg_stat_activity and pg_locks';
  return new SetupError(`migration ${migration ?? ''} was not run: ${why}`, { cause });
}

/** What every migration that has run needs beside it, also when an earlier run was broken off. */
async function changeOnline(
  db: Kysely<unknown>,
  migrator: Migrator,
  { isNew }: { readonly isNew: boolean },
): Promise<readonly string[]> {
  // None of these statements keeps a writer waiting while it waits itself, and each may take long.
  await sql`set lock_timeout = 0`.execute(db);
  await sql`set statement_timeout = 0`.execute(db);
  const completed: string[] = [];
  for (const { name, change } of await wantedChanges(migrator)) {
    if (await isMade(db, change)) continue;
    await make(db, change, isNew ? 'alone' : 'beside others');
    completed.push(name);
  }
  return completed;
}

/** The changes of all migrations that have run, but for the indexes that a later one drops. */
async function wantedChanges(
  migrator: Migrator,
): Promise<readonly { readonly name: string; readonly change: OnlineChange }[]> {
  const ran = (await migrator.getMigrations()).filter(({ executedAt }) => executedAt !== undefined);
  const changes = ran.flatMap(({ name, migration }) => changesOf(migration).map((change) => ({ name, change })));
  const all = changes.map(({ change }) => change);
  return changes.filter(({ change }) => !('index' in change && isDropped(change.index, all)));
}

function isDropped(index: string, changes: readonly OnlineChange[]): boolean {
  return changes.some((change) => 'dropped' in change && change.dropped === index);
}

function changesOf(migration: Migration): readonly OnlineChange[] {
  // The files of our own folder, which are typed.
  return 'onlineChanges' in migration ? (migration.onlineChanges as readonly OnlineChange[]) : [];
}
