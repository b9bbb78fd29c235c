import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, SetupError } from '../domain/errors.ts';
import { folderError } from '../main/local-faults.ts';
import { newSecret } from './data-folder.ts';
import type { Account, PostgresBinaries } from './postgres-binaries.ts';
import { openServerLog, serverLogTail } from './server-log.ts';

/** Where things lie below the folder given to `startPostgres`. */
export const clusterFolderOf = (folder: string): string => join(folder, 'cluster');
export const logFileOf = (folder: string): string => join(folder, 'server.log');
const passwordFileOf = (folder: string): string => join(folder, 'password');
/** Holds what is not complete yet; the owner of the data folder is alone here. */
const draftsOf = (folder: string): string => join(folder, 'new');

export const superuser = 'videogen';

export type ClusterWanted = {
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly log: (message: string) => void;
};

/** Makes the cluster and its password when they do not exist yet. Answers the password. */
export async function ensureCluster(wanted: ClusterWanted): Promise<string> {
  const { folder } = wanted;
  const password = (await readPassword(folder)) ?? (await newSecret(passwordFileOf(folder)));
  // Leftovers of a start that was killed.
  await rm(draftsOf(folder), { recursive: true, force: true });
  const found = await stat(clusterFolderOf(folder)).catch(() => undefined);
  if (found === undefined) await createCluster(wanted, password);
  return password;
}

/** The superuser's password; undefined when there is none yet. Throws a sentence when another account keeps it. */
export async function readPassword(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(passwordFileOf(folder), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw folderError(error, folder, 'VIDEOGEN_DATA');
  }
}

/** Half a second is usual; a slow disk that has to sync 40 MB takes longer. */
const initdbTimeoutMs = 120_000;

/** The locale comes with PostgreSQL itself (code points, no ICU), so an index sorts alike on every machine. */
const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];

/** Under another name until it is complete, so that a kill in the middle never leaves half a cluster under its name. */
async function createCluster({ folder, binaries, account, log }: ClusterWanted, password: string): Promise<void> {
  const [cluster, drafts] = [clusterFolderOf(folder), draftsOf(folder)];
  const [draft, passwordDraft] = [join(drafts, 'cluster'), join(drafts, 'password')];
  log(`Creating the database in ${cluster}.`);
  await mkdir(draft, { mode: 0o700, recursive: true });
  await writeFile(passwordDraft, `${password}\n`, { mode: 0o600 });
  if (account !== undefined) await handOver([draft, passwordDraft], account);
  const said = await openServerLog(logFileOf(folder));
  // Given open, as descriptor 3, since the account may not be able to reach the file by its path.
  const passwordFile = await open(passwordDraft, 'r');
  try {
    const { dataArgument, options } = postgresSurroundings(draft, account);
    const access = [`--username=${superuser}`, '--auth=scram-sha-256', '--pwfile=/dev/fd/3'];
    const initdb = spawn(binaries.initdb, ['-D', dataArgument, ...locale, ...access], {
      ...options,
      stdio: ['ignore', said.fd, said.fd, passwordFile.fd],
      timeout: initdbTimeoutMs,
    });
    await once(initdb, 'close');
    if (initdb.exitCode === 0) return await rename(draft, cluster);
    const end = initdb.signalCode ?? `code ${initdb.exitCode}`;
    throw new SetupError(`initdb could not create ${cluster} (${end}):\n${await serverLogTail(logFileOf(folder))}`);
  } finally {
    await passwordFile.close();
    await said.close();
    await rm(drafts, { recursive: true, force: true });
  }
}

async function handOver(paths: readonly string[], { uid, gid }: Account): Promise<void> {
  try {
    for (const path of paths) await chown(path, uid, gid);
  } catch (cause) {
    const advice = 'Put VIDEOGEN_DATA on a local disk, start Videogen as an ordinary user, or set DATABASE_URL.';
    const fault = `PostgreSQL does not run as root, and ${paths[0]} cannot be given to another account.`;
    throw new SetupError(`${fault} ${advice}`, { cause });
  }
}

/**
 * How to run a program of PostgreSQL on a cluster folder. A folder above it may be closed to the other account; a process that is
 * put into the folder before it changes its account may use it, by a name without a path. `PGDATA` and its like would interfere.
 */
export function postgresSurroundings(folder: string, account: Account | undefined) {
  const inside = account !== undefined && process.platform === 'linux';
  return {
    /** What to give to `-D`. */
    dataArgument: inside ? '/proc/self/cwd' : folder,
    options: { cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' }, ...account },
  };
}
