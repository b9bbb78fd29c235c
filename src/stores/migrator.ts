import { Kysely, Migrator, PostgresDialect } from 'kysely';
import pg from 'pg';
import * as initial from './migrations/0001-initial.ts';
import * as providerJobEnds from './migrations/0002-provider-job-ends.ts';
import * as ledgerAudit from './migrations/0003-ledger-audit.ts';
import * as callbacks from './migrations/0004-callbacks.ts';
import * as accountApi from './migrations/0005-account-api.ts';
import * as callbackSecretsByAccount from './migrations/0006-callback-secrets-by-account.ts';
import * as operators from './migrations/0007-operators.ts';
import * as rates from './migrations/0008-rates.ts';
import * as dialect from './migrations/0009-dialect.ts';
import * as taskDeadlines from './migrations/0010-task-deadlines.ts';

/** Every migration in order; a landed one is never edited. */
const migrations = {
  '0001-initial': initial,
  '0002-provider-job-ends': providerJobEnds,
  '0003-ledger-audit': ledgerAudit,
  '0004-callbacks': callbacks,
  '0005-account-api': accountApi,
  '0006-callback-secrets-by-account': callbackSecretsByAccount,
  '0007-operators': operators,
  '0008-rates': rates,
  '0009-dialect': dialect,
  '0010-task-deadlines': taskDeadlines,
};

export const migrationNames: readonly string[] = Object.keys(migrations);

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
    const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    return results.map((result) => result.migrationName);
  } finally {
    await db.destroy();
  }
}
