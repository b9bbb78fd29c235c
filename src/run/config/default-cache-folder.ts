import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The cache of this checkout, by the convention of tools that run in `node_modules`; `npm ci` empties it. */
const ownCache = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

/** Returns the user's cache folder, or, if this account cannot write to it, the one of this checkout. */
export function defaultCacheFolder(home = homedir(), otherwise = ownCache): string {
  const cache = join(home, '.cache');
  return isWritable(cache) ? cache : otherwise;
}

/** True if the folder, or the closest existing folder above it, can be written. */
function isWritable(path: string): boolean {
  if (!existsSync(path)) return path !== dirname(path) && isWritable(dirname(path));
  try {
    accessSync(path, constants.W_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
