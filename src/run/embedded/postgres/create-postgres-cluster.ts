import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, SetupError } from '../../../platform/setup-errors-and-error-messages.ts';
import { explainFolderError } from '../../../platform/process/folder-and-port-errors.ts';
import { createRandomSecretFile } from '../data-folder-lock-and-files.ts';
import type { SystemUser, PostgresBinaries } from './postgres-binaries.ts';
import { openServerLog, serverLogTail } from '../server-log.ts';

// Paths below the folder given to `startPostgres`.
export const clusterFolderOf = (folder: string): string => join(folder, 'cluster');
export const postgresLogOf = (folder: string): string => join(folder, 'server.log');
const passwordFileOf = (folder: string): string => join(folder, 'password');
/** Incomplete files; only the owner of the data folder writes here. */
const draftsOf = (folder: string): string => join(folder, 'new');

export const superuser = 'videogen';

export type ClusterOptions = {
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly account: SystemUser | undefined;
  readonly log: (message: string) => void;
};

/** Creates the cluster and its password unless they exist. Returns the password. */
export async function ensureClusterAndPassword(options: ClusterOptions): Promise<string> {
  const { folder } = options;
  const password = (await readSuperuserPassword(folder)) ?? (await createRandomSecretFile(passwordFileOf(folder)));
  // Leftovers of a start that was killed.
  await rm(draftsOf(folder), { recursive: true, force: true });
  const found = await stat(clusterFolderOf(folder)).catch(() => undefined);
  if (found === undefined) await createCluster(options, password);
  return password;
}

/** Reads the superuser's password; undefined if there is none yet. */
export async function readSuperuserPassword(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(passwordFileOf(folder), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw explainFolderError(error, folder, 'VIDEOGEN_DATA');
  }
}

/** Half a second is usual; a slow disk that has to sync 40 MB takes longer. */
const initdbTimeoutMs = 120_000;

/** The locale comes with PostgreSQL itself (code points, no ICU), so an index sorts alike on every machine. */
const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];

/** Creates the cluster under another name until it is complete, so that a kill in the middle never leaves half a cluster. */
async function createCluster({ folder, binaries, account, log: say }: ClusterOptions, password: string): Promise<void> {
  const [cluster, drafts] = [clusterFolderOf(folder), draftsOf(folder)];
  const [draft, passwordDraft] = [join(drafts, 'cluster'), join(drafts, 'password')];
  say(`Creating the database in ${cluster}.`);
  await mkdir(draft, { mode: 0o700, recursive: true });
  await writeFile(passwordDraft, `${password}\n`, { mode: 0o600 });
  if (account !== undefined) await handOver([draft, passwordDraft], account);
  const log = await openServerLog(postgresLogOf(folder));
  // The file is passed open, as descriptor 3, because the account may not be able to reach it by its path.
  const passwordFile = await open(passwordDraft, 'r');
  try {
    const { dataArgument, options } = clusterSpawnOptions(draft, account);
    const access = [`--username=${superuser}`, '--auth=scram-sha-256', '--pwfile=/dev/fd/3'];
    const initdb = spawn(binaries.initdb, ['-D', dataArgument, ...locale, ...access], {
      ...options,
      stdio: ['ignore', log.fd, log.fd, passwordFile.fd],
      timeout: initdbTimeoutMs,
    });
    await once(initdb, 'close');
    if (initdb.exitCode === 0) return await rename(draft, cluster);
    const end = initdb.signalCode ?? `code ${initdb.exitCode}`;
    throw new SetupError(`initdb could not create ${cluster} (${end}):\n${await serverLogTail(postgresLogOf(folder))}`);
  } finally {
    await passwordFile.close();
    await log.close();
    await rm(drafts, { recursive: true, force: true });
  }
}

async function handOver(paths: readonly string[], { uid, gid }: SystemUser): Promise<void> {
  try {
    for (const path of paths) await chown(path, uid, gid);
  } catch (cause) {
    const advice = 'Put VIDEOGEN_DATA on a local disk, start Videogen as an ordinary user, or set DATABASE_URL.';
    const problem = `PostgreSQL does not run as root, and the owner of ${paths[0]} cannot be changed.`;
    throw new SetupError(`${problem} ${advice}`, { cause });
  }
}

/**
 * Returns the options to run a program of PostgreSQL on a cluster folder. A parent folder may be closed to the other account, but a
 * process that starts in the folder may use it without its path. Variables such as `PGDATA` would interfere.
 */
export function clusterSpawnOptions(folder: string, account: SystemUser | undefined) {
  const inside = account !== undefined && process.platform === 'linux';
  return {
    /** The value of `-D`. */
    dataArgument: inside ? '/proc/self/cwd' : folder,
    options: { cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' }, ...account },
  };
}
