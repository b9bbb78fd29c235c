import { readFile, stat } from 'node:fs/promises';

/** PostgreSQL refuses to run as root; this is whom it runs as instead. */
export type Account = { readonly uid: number; readonly gid: number };

/**
 * The account for a server on this cluster folder: undefined means our own, which is always so for an ordinary user. For root
 * it is whoever owns the cluster already, else `nobody`.
 */
export async function postgresAccount(clusterFolder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(clusterFolder).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return nobody();
}

async function nobody(): Promise<Account> {
  const accounts = await readFile('/etc/passwd', 'utf8');
  const match = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(accounts);
  const [, uid, gid] = match ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error(
      'PostgreSQL does not run as root, and there is no account "nobody" to run it as. ' +
        'Start Videogen as an ordinary user, or set DATABASE_URL.',
    );
  }
  // macOS writes the highest ids as negative numbers; the system calls want them unsigned.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}
