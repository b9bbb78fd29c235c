import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { validate } from 'uuid';
import { listAccounts } from '../../accounts/account-list.ts';
import { type Config } from '../config/config.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { lockDataFolder } from '../embedded/data-folder-lock-and-files.ts';
import { readPort } from '../embedded/local-ports.ts';
import { clusterFolderOf } from '../embedded/postgres/create-postgres-cluster.ts';
import { postgresFolder } from '../embedded/server-folders.ts';
import { findPostgresUrl, startPostgres } from '../embedded/postgres/postgres-server.ts';
import { type Account, findAccount } from '../../accounts/accounts.ts';
import { createDatabase, type Database } from '../../platform/database/database.ts';
import type { TemporalTarget } from '../../temporal/connection/connect.ts';
import { idOfAccountCalled, accountNotFoundError } from './account-by-name.ts';
import { type CommandAnswer, CommandError, isJsonRequested, printAnswer } from './command-output-and-errors.ts';
import { readConfigWithRecordedCatalogue } from './config-with-recorded-catalogue.ts';

export type DatabaseAndConfig = { readonly db: Database; readonly config: Config };

/** Wraps a command: reads the configuration, runs the command on the database, prints its answer. */
export type RunOnDatabase = <Parameters extends unknown[]>(
  work: (context: DatabaseAndConfig, ...parameters: Parameters) => Promise<CommandAnswer>,
) => (...parameters: Parameters) => Promise<void>;

export function createDatabaseRunner(program: Command): RunOnDatabase {
  return (work) =>
    async (...parameters) => {
      const config = readConfigWithRecordedCatalogue();
      const answer = await withDatabase(config, async (db) => {
        await replaceAccountName(db, parameters);
        return work({ db, config }, ...parameters);
      });
      printAnswer(answer, isJsonRequested(program));
    };
}

/** Replaces the name of an account by its id in the option `--account`, so that every command takes both. Options are the last but one. */
async function replaceAccountName(db: Database, parameters: readonly unknown[]): Promise<void> {
  const options = parameters.at(-2);
  if (typeof options !== 'object' || options === null || !('account' in options)) return;
  if (typeof options.account === 'string') options.account = await accountIdOf(db, options.account);
}

const maxSuggested = 20;

async function accountIdOf(db: Database, text: string): Promise<string> {
  if (validate(text)) return text;
  const found = await listAccounts(db, { prefix: text, limit: 1000 });
  const all = found.length > 0 ? [] : await listAccounts(db, { limit: maxSuggested + 1 });
  if (all.length > 0 && all.length <= maxSuggested)
    throw new CommandError(
      `${accountNotFoundError(text).message}; the accounts are: ${all.map(({ name }) => name).join(', ')}`,
    );
  return idOfAccountCalled(text, found);
}

/** Runs a command on the database of `withRunningDatabaseUrl`. An embedded database that was started for the command is migrated first. */
function withDatabase<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  return withRunningDatabaseUrl(config, async (url) => {
    if (config.databaseUrl === undefined) await (await import('../schema/migrator.ts')).migrateToLatest(url);
    const db = createDatabase({ url, poolSize: 2 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });
}

/**
 * Passes DATABASE_URL, else the embedded database, which is started for the command unless it runs. A command never creates one: an
 * operator who forgot DATABASE_URL would find the installation empty.
 */
export async function withRunningDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const folder = postgresFolder(config);
  const url = config.databaseUrl ?? (await findPostgresUrl(folder));
  if (url !== undefined) return work(url);
  if (!existsSync(clusterFolderOf(folder)))
    throw new CommandError(
      `no installation in ${config.dataFolder}: set DATABASE_URL or VIDEOGEN_DATA to those of the service, or create one with "npm start"`,
    );
  const lock = await lockDataFolder(config.dataFolder);
  try {
    const server = await startPostgres({ folder, log: () => {} });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    await lock.release();
  }
}

/** Returns the configured Temporal, else that of the service on this data folder; undefined if it never had one. */
export async function temporalTargetOf(config: Config): Promise<TemporalTarget | undefined> {
  const { temporal, dataFolder, temporalNamespace: namespace, payloadKeys } = config;
  if (temporal !== undefined) return { ...temporal, payloadKeys };
  const port = await readPort(join(dataFolder, 'temporal', 'port'));
  return port === undefined ? undefined : { connection: { address: `127.0.0.1:${port}` }, namespace, payloadKeys };
}

/** Returns the user who runs the command, for the audit log. */
export function commandLineActor(): Actor {
  return { kind: 'command_line', name: userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have a number and no entry in /etc/passwd.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

export async function requireAccount(db: Database, accountId: string): Promise<Account> {
  const account = await findAccount(db, accountId);
  if (account === undefined) throw accountNotFoundError(accountId);
  return account;
}
