import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../domain/setup-error.ts';
import type { Account } from './postgres-account.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { runInitdb } from './run-initdb.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';

/** Where things lie below the folder given to `startPostgres`. */
export const clusterFolderOf = (folder: string): string => join(folder, 'cluster');
const passwordFileOf = (folder: string): string => join(folder, 'password');

export const superuser = 'videogen';

export type ClusterWanted = {
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly log: (message: string) => void;
  /** Called when a cluster is being made: that takes half a second in another process. */
  readonly onSpawned: () => void;
};

/** Makes the cluster and its password when they do not exist yet. Answers the password. */
export async function ensureCluster(wanted: ClusterWanted): Promise<string> {
  const { folder, binaries } = wanted;
  const password = (await readPassword(folder)) ?? (await newPassword(folder));
  const cluster = clusterFolderOf(folder);
  await removeDrafts(folder);
  if (await isFolder(cluster)) await checkCluster(cluster, binaries);
  else await createCluster({ ...wanted, cluster, password });
  return password;
}

/** The superuser's password; undefined when there is none yet. Throws a sentence when another account keeps it. */
export async function readPassword(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(passwordFileOf(folder), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === 'EACCES') throw foreignFolder(folder, error);
    throw error;
  }
}

async function newPassword(folder: string): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  await writeFileAtomically(passwordFileOf(folder), `${password}\n`);
  return password;
}

async function checkCluster(cluster: string, binaries: PostgresBinaries): Promise<void> {
  const ours = process.getuid?.() ?? 0;
  const { uid } = await stat(cluster);
  if (ours !== 0 && uid !== ours) throw foreignFolder(cluster, undefined);
  const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
  if (version === binaries.majorVersion) return;
  const advice = 'Dump it with the version that wrote it and load the dump into a new data folder.';
  throw new Error(
    `The database in ${cluster} was written by PostgreSQL ${version}, this one is ${binaries.majorVersion}. ${advice}`,
  );
}

function foreignFolder(path: string, cause: unknown): Error {
  const advice =
    'Run Videogen as the account that started it first, or as root, or set VIDEOGEN_DATA to another folder.';
  return new Error(`The embedded PostgreSQL in ${path} belongs to another account. ${advice}`, { cause });
}

type NewCluster = ClusterWanted & { readonly cluster: string; readonly password: string };

/** Under another name until it is complete, so that being killed in the middle leaves nothing that looks like a cluster. */
async function createCluster(wanted: NewCluster): Promise<void> {
  const { folder, cluster, binaries, account, password, log, onSpawned } = wanted;
  log(`Creating the database in ${cluster}.`);
  const draft = join(folder, `cluster.${randomBytes(6).toString('hex')}.new`);
  const passwordDraft = `${draft}-password`;
  await writeFileAtomically(passwordDraft, `${password}\n`);
  await mkdir(draft, { mode: 0o700 });
  if (account !== undefined) await handOver([draft, passwordDraft], account);
  try {
    const { initdb } = binaries;
    await runInitdb({ initdb, superuser, cluster: draft, passwordFile: passwordDraft, account, onSpawned });
    await rename(draft, cluster);
  } finally {
    await rm(passwordDraft, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
}

async function handOver(paths: string[], { uid, gid }: Account): Promise<void> {
  try {
    for (const path of paths) await chown(path, uid, gid);
  } catch (error) {
    const advice = 'Put VIDEOGEN_DATA on a local disk, start Videogen as an ordinary user, or set DATABASE_URL.';
    throw new Error(`PostgreSQL does not run as root, and ${paths[0]} cannot be given to another account. ${advice}`, {
      cause: error,
    });
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}

/** Leftovers of a start that was killed. The owner of the data folder runs this, so nobody else is at work here. */
async function removeDrafts(folder: string): Promise<void> {
  const names = await readdir(folder);
  const drafts = names.filter((name) => /^cluster\.[0-9a-f]{12}\.new/.test(name));
  for (const name of drafts) await rm(join(folder, name), { recursive: true, force: true });
}
