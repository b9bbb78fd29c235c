import { readFile, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../domain/setup-error.ts';

/**
 * Makes the links between the libraries' names that the package's own install script would have made: npm packs no links,
 * and newer npm versions do not run the script. `native` is the package's folder of that name, or a copy of it.
 */
export async function linkPostgresLibraries(native: string): Promise<void> {
  const listed: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(listed)) throw new Error(`${native}/pg-symlinks.json is no list`);
  for (const link of listed.map(asLink)) await makeLink(native, link);
}

type LibraryLink = { readonly source: string; readonly target: string };

function asLink(value: unknown): LibraryLink {
  const known =
    typeof value === 'object' && value !== null && 'source' in value && 'target' in value ? value : undefined;
  if (typeof known?.source !== 'string' || typeof known.target !== 'string')
    throw new Error('pg-symlinks.json holds no link');
  return { source: known.source, target: known.target };
}

/** The list gives paths from the package's root, such as `native/lib/libpq.so.5`; both names of a link lie side by side. */
async function makeLink(native: string, { source, target }: LibraryLink): Promise<void> {
  try {
    await symlink(basename(source), join(dirname(native), target));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
