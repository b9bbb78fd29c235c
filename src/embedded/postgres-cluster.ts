import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, SetupError } from '../domain/errors.ts';
import { writeFileAtomically } from './kept-port.ts';
import type { Account, PostgresBinaries } from './postgres-binaries.ts';

/** Where things lie below the folder given to `startPostgres`. */
export const clusterFolderOf = (folder: string): string => join(folder, 'cluster');
const passwordFileOf = (folder: string): string => join(folder, 'password');

export const superuser = 'videogen';

export type ClusterWanted = {
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly log: (message: string) => void;
};

/** Makes the cluster and its password when they do not exist yet. Answers the password. */
export async function ensureCluster(wanted: ClusterWanted): Promise<string> {
  const { folder, binaries } = wanted;
  const password = (await readPassword(folder)) ?? (await newPassword(folder));
  const cluster = clusterFolderOf(folder);
  await removeDrafts(folder);
  const found = await stat(cluster).catch(() => undefined);
  if (found?.isDirectory() === true) await checkCluster(cluster, found.uid, binaries);
  else await createCluster({ ...wanted, cluster, password });
  return password;
}

/** The superuser's password; undefined when there is none yet. Throws a sentence when another account keeps it. */
export async function readPassword(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(passwordFileOf(folder), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === 'EACCES') throw foreignFolder(folder);
    throw error;
  }
}

async function newPassword(folder: string): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  await writeFileAtomically(passwordFileOf(folder), `${password}\n`);
  return password;
}

async function checkCluster(cluster: string, owner: number, binaries: PostgresBinaries): Promise<void> {
  const ours = process.getuid?.() ?? 0;
  if (ours !== 0 && owner !== ours) throw foreignFolder(cluster);
  const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
  if (version === binaries.majorVersion) return;
  const advice = 'Dump it with the version that wrote it and load the dump into a new data folder.';
  throw new SetupError(
    `The database in ${cluster} was written by PostgreSQL ${version}, this one is ${binaries.majorVersion}. ${advice}`,
  );
}

function foreignFolder(path: string): SetupError {
  const advice =
    'Run Videogen as the account that started it first, or as root, or set VIDEOGEN_DATA to another folder.';
  return new SetupError(`The embedded PostgreSQL in ${path} belongs to another account. ${advice}`);
}

/** Half a second is usual; a slow disk that has to sync 40 MB takes longer. */
const initdbTimeoutMs = 120_000;

/** The locale comes with PostgreSQL itself (code points, no ICU), so an index sorts alike on every machine. */
const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];

type NewCluster = ClusterWanted & { readonly cluster: string; readonly password: string };

/** Under another name until it is complete, so that a kill in the middle never leaves half a cluster under its name. */
async function createCluster({ folder, cluster, binaries, account, password, log }: NewCluster): Promise<void> {
  log(`Creating the database in ${cluster}.`);
  const draft = join(folder, `cluster.${randomBytes(6).toString('hex')}.new`);
  const passwordDraft = `${draft}-password`;
  await writeFileAtomically(passwordDraft, `${password}\n`);
  await mkdir(draft, { mode: 0o700 });
  if (account !== undefined) await handOver([draft, passwordDraft], account);
  // Given open, as descriptor 3, since the account may not be able to reach the file by its path.
  const passwordFile = await open(passwordDraft, 'r');
  try {
    const access = [`--username=${superuser}`, '--auth=scram-sha-256', '--pwfile=/dev/fd/3'];
    const { dataArgument, options } = postgresSurroundings(draft, account);
    const stdio: ['ignore', 'pipe', 'pipe', number] = ['ignore', 'pipe', 'pipe', passwordFile.fd];
    const args = ['-D', dataArgument, ...locale, ...access];
    await succeeded(spawn(binaries.initdb, args, { ...options, stdio, timeout: initdbTimeoutMs }));
    await rename(draft, cluster);
  } catch (error) {
    throw new SetupError(
      `initdb could not create ${cluster}: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    await passwordFile.close();
    await rm(passwordDraft, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
}

function succeeded(child: ChildProcess): Promise<void> {
  let said = '';
  const listen = (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000));
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${signal ?? `code ${code}`}: ${said.trim()}`));
    });
  });
}

async function handOver(paths: string[], { uid, gid }: Account): Promise<void> {
  try {
    for (const path of paths) await chown(path, uid, gid);
  } catch (error) {
    const advice = 'Put VIDEOGEN_DATA on a local disk, start Videogen as an ordinary user, or set DATABASE_URL.';
    throw new SetupError(
      `PostgreSQL does not run as root, and ${paths[0]} cannot be given to another account. ${advice}`,
      {
        cause: error,
      },
    );
  }
}

/** Leftovers of a start that was killed. The owner of the data folder runs this, so no other process works here. */
async function removeDrafts(folder: string): Promise<void> {
  const names = await readdir(folder);
  const drafts = names.filter((name) => /^cluster\.[0-9a-f]{12}\.new/.test(name));
  for (const name of drafts) await rm(join(folder, name), { recursive: true, force: true });
}

/**
 * How to run a program of PostgreSQL on a cluster folder. Another account often cannot walk down to the folder, because one
 * above it (such as /root, or the data folder) is closed; but a process that is put into the folder before it changes its
 * account may use it, and on Linux `/proc/self/cwd` names it without any walking. Every variable a shell may hold is left out,
 * as some of them (`PGDATA`, `PGOPTIONS`) would interfere.
 */
export function postgresSurroundings(folder: string, account: Account | undefined) {
  const inside = account !== undefined && process.platform === 'linux';
  return {
    /** What to give to `-D`. */
    dataArgument: inside ? '/proc/self/cwd' : folder,
    options: { cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' }, ...account },
  };
}
