import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { linkPostgresLibraries } from './link-postgres-libraries.ts';

/**
 * Copies the server's files to a folder that any account can read, unless they are there already. The name appears only when
 * everything is in place, so a copy that was cut short is never used.
 */
export async function copyPostgres(native: string, target: string, log: (message: string) => void): Promise<void> {
  const binaries = join(target, 'bin');
  if (
    await stat(binaries).then(
      () => true,
      () => false,
    )
  )
    return;
  log(`Copying the PostgreSQL server to ${target}, once.`);
  await makeOpenFolder(dirname(target));
  const draft = `${target}.${randomBytes(6).toString('hex')}.new`;
  try {
    // The list of links names the package's own folder, so the copy gets a folder of that name for as long as they are made.
    await cp(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    await linkPostgresLibraries(join(draft, 'native'));
    await openToAll(join(draft, 'native'));
    await renameUnlessThere(join(draft, 'native'), target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function makeOpenFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o755 });
  // A strict umask must not hide a folder that was made for others to read.
  if (made !== undefined) await chmod(folder, 0o755);
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
}

/** Another process may have finished the same copy meanwhile; both are alike. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (
      !(await stat(join(to, 'bin')).then(
        () => true,
        () => false,
      ))
    )
      throw error;
  }
}
