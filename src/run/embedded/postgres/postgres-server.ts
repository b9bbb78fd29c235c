import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { errorCode, SetupError } from '../../../platform/setup-errors-and-error-messages.ts';
import { readOrReservePort } from '../local-ports.ts';
import { type SupervisedServer, startSupervisedServer, type ServerProgram, stopOrphan } from '../supervised-server.ts';
import { postgresSystemUser, preparePostgresBinaries } from './postgres-binaries.ts';
import {
  clusterFolderOf,
  ensureClusterAndPassword,
  postgresLogOf,
  clusterSpawnOptions,
  readSuperuserPassword,
  superuser,
} from './create-postgres-cluster.ts';
import {
  clearStalePid,
  findPostmaster,
  folderMarkSetting,
  recordedPostmaster,
} from './find-postmaster-and-clear-stale-pid.ts';

export type PostgresServer = SupervisedServer & {
  /** The address of the database `videogen` with its password; it survives restarts of the server. */
  readonly url: string;
  readonly port: number;
};

/** The folder holds the cluster, its password, port and log; created when missing. An absolute path, of any depth. */
export type PostgresOptions = Pick<ServerProgram, 'folder' | 'log' | 'signal'> & {
  readonly stopSteps?: ServerProgram['stopSteps'];
};

const name = 'PostgreSQL';
const databaseName = 'videogen';

/** Fast (SIGINT) writes a checkpoint; immediate (SIGQUIT) leaves that to recovery. SIGKILL is the last resort. */
const defaultStopSteps = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/**
 * These are passed on the command line, so that a cluster of any age gets
 * today's values. Commits reach the disk: fsync and synchronous_commit stay on.
 */
const serverSettings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
];

/** Starts PostgreSQL and restarts it when it dies; an orphaned one is stopped first. Hold the data folder's lock until `stop` ends. */
export async function startPostgres({
  folder,
  log,
  signal,
  stopSteps = defaultStopSteps,
}: PostgresOptions): Promise<PostgresServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const cluster = clusterFolderOf(folder);
  const account = await postgresSystemUser(cluster);
  const binaries = await preparePostgresBinaries(folder, account, log);
  const password = await ensureClusterAndPassword({ folder, binaries, account, log });
  await stopOrphan({ name, log, stopSteps }, async () => (await findPostmaster(cluster))?.pid);
  const settings = [...serverSettings, await folderMarkSetting(cluster)].flatMap((setting) => ['-c', setting]);
  const { dataArgument, options } = clusterSpawnOptions(cluster, account);
  let port = 0;
  const server = await startSupervisedServer({
    name,
    folder: cluster,
    logFile: postgresLogOf(folder),
    launch: async ({ isRestart }) => {
      await clearStalePid(cluster);
      if (!isRestart) port = await readOrReservePort(join(folder, 'port'));
      return { file: binaries.postgres, args: ['-D', dataArgument, '-p', String(port), ...settings], options };
    },
    serves: async (child) => {
      // While ours was down, the server of a copied folder may have taken the port, and it has the same password.
      const recorded = await recordedPostmaster(cluster);
      return recorded?.isReady === true && recorded.pid === child.pid && isUsable(folder, port, password);
    },
    stopSteps,
    log,
    signal,
  });
  return Object.assign(server, { url: postgresUrl(port, password, databaseName), port });
}

/** Returns the address of the PostgreSQL that runs on this folder, for commands beside the service; undefined if none is ready. */
export async function findPostgresUrl(folder: string): Promise<string | undefined> {
  const password = await readSuperuserPassword(folder);
  const found = await findPostmaster(clusterFolderOf(folder));
  if (password === undefined || found?.isReady !== true) return undefined;
  return postgresUrl(found.port, password, databaseName);
}

/** Connects, and creates our database the first time. */
async function isUsable(folder: string, port: number, password: string): Promise<boolean> {
  // A machine with far more work than cores takes seconds to accept a connection; a server that is not running refuses it immediately.
  // Without `ssl`, pg would read PGSSLMODE from the environment.
  const client = new Client({
    connectionString: postgresUrl(port, password, 'postgres'),
    connectionTimeoutMillis: 30_000,
    query_timeout: 30_000,
    ssl: false,
  });
  // A server that stops closes the idle connection with an error event; the error of the query is enough.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const found = await client.query('select 1 from pg_database where datname = $1', [databaseName]);
    if (found.rowCount === 0) await client.query(`create database ${databaseName}`);
    return true;
  } catch (cause) {
    // invalid_password (PostgreSQL's appendix A): waiting does not help.
    if (errorCode(cause) !== '28P01') return false;
    throw new SetupError(`the password stored in ${folder} is not that of the PostgreSQL there`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}

function postgresUrl(port: number, password: string, database: string): string {
  return `postgres://${superuser}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}
