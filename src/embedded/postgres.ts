import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bringUpPostgres, type PostgresPlan } from './postgres/bring-up-postgres.ts';
import { postgresAccount } from './postgres/postgres-account.ts';
import { ensureDatabase, postgresUrl } from './postgres/postgres-answer.ts';
import { postgresBinaries } from './postgres/postgres-binaries.ts';
import { clusterFolderOf, ensureCluster } from './postgres/postgres-cluster.ts';
import { boundServerLog } from './server-log.ts';
import type { RunningProcess } from './processes/running-process.ts';
import { stopProcess } from './processes/stop-process.ts';
import { supervise } from './processes/supervise.ts';

export type Postgres = {
  /** Of the database `videogen`, password included; the same for as long as this runs, also over restarts of the server. */
  readonly url: string;
  readonly port: number;
  /** Of the server that runs now. */
  readonly pid: number;
  /** Ends the server: connections are cut, nothing committed is lost. Bounded by about half a minute. */
  readonly stop: () => Promise<void>;
};

export type PostgresOptions = {
  /** Holds the cluster, its password, port and log; created when missing. Any name, any depth. */
  readonly folder: string;
  /** Takes whole sentences for the operator. */
  readonly log: (message: string) => void;
  /** On 127.0.0.1. By default the one used last, when it is free, else any; a server that runs already keeps its own. */
  readonly port?: number;
  /** Called whenever a program of the server has been started: whoever has much to load does it from the first time on. */
  readonly onSpawned?: () => void;
};

export const databaseName = 'videogen';

/** Fast (SIGINT) writes a checkpoint; immediate (SIGQUIT) leaves that to recovery. SIGKILL is for a machine beyond help. */
const stopSteps = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/**
 * Starts a real PostgreSQL on the folder, or adopts the one that a killed process left running there, and watches over it.
 * Hold the lock of the data folder while calling this and until `stop` has ended; there must be one caller per folder.
 * Throws a sentence for the operator when it cannot run here.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { folder: given, log, port, onSpawned = () => {} } = options;
  // The server changes into its own folder, so a relative name would mean another one there.
  const folder = resolve(given);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const cluster = clusterFolderOf(folder);
  const account = await postgresAccount(cluster);
  const binaries = await postgresBinaries(folder, account, log);
  const password = await ensureCluster({ folder, binaries, account, log, onSpawned });
  const plan: PostgresPlan = { folder, cluster, program: binaries.postgres, account, password, log, onSpawned };
  const up = await bringUpPostgres(plan, port);
  await ensureDatabase(up.port, password, databaseName).catch(async (error: unknown) => {
    // Nobody would be left to stop it.
    await endPostgres(up.running);
    throw error;
  });
  const supervisor = supervise({
    name: 'PostgreSQL',
    first: up.running,
    // At the same port, since its address is in use all over the process.
    restart: async () => (await bringUpPostgres(plan, up.port)).running,
    end: endPostgres,
    housekeeping: () => boundServerLog(join(folder, 'server.log')),
    log,
  });
  return {
    url: postgresUrl(up.port, password, databaseName),
    port: up.port,
    get pid() {
      return supervisor.pid();
    },
    stop: supervisor.stop,
  };
}

async function endPostgres(running: RunningProcess): Promise<void> {
  if (!(await stopProcess(running, stopSteps))) throw new Error(`PostgreSQL (process ${running.pid}) does not end`);
}
