import { execFile } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorCode } from '../domain/errors.ts';
import { commandOf } from './running-process.ts';

// Which server runs on a cluster folder. PostgreSQL says so in `postmaster.pid`, but a copied folder brings along the file of the
// server of its original, so the file alone never decides.

const run = promisify(execFile);

export type Postmaster = {
  readonly pid: number;
  readonly port: number;
  /** It listens and takes connections. */
  readonly isReady: boolean;
};

/** What the folder records: the pid in the first line, the port in the fourth, the state in the eighth, which is written last. */
export async function recordedPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return Number.isInteger(pid) && pid > 0 ? { pid, port, isReady: lines[7]?.trim() === 'ready' } : undefined;
}

/** The server that runs on this cluster folder, also one of an earlier process; never one that runs on another folder. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const recorded = await recordedPostmaster(cluster);
  return recorded !== undefined && (await runsOn(cluster, recorded)) === true ? recorded : undefined;
}

/**
 * Removes a `postmaster.pid` that would stop PostgreSQL for no reason: its pid belongs to another program since a crash of the
 * machine, to the server of the folder from which this one was copied, or to a zombie that is never reaped (containers without
 * an init). Call it only when no server of ours runs there. A file whose pid is free stays: PostgreSQL itself finds it stale,
 * and uses it to find surviving backends. So does one whose process may be a server on this folder: PostgreSQL refuses to start.
 */
export async function clearStalePid(cluster: string, reapWaitMs = 3_000): Promise<void> {
  for (const deadline = Date.now() + reapWaitMs; ; await pause(30)) {
    const recorded = await recordedPostmaster(cluster);
    if (recorded === undefined || !pidIsTaken(recorded.pid)) return;
    if ((await commandOf(recorded.pid)) === undefined && Date.now() < deadline) continue;
    if ((await runsOn(cluster, recorded)) !== false) return;
    return rm(join(cluster, 'postmaster.pid'), { force: true });
  }
}

/** Whether this process is a server on this cluster folder; undefined when it is one, and the system does not tell on which. */
async function runsOn(cluster: string, { pid, port }: Postmaster): Promise<boolean | undefined> {
  const command = await commandOf(pid);
  if (command?.includes('postgres') !== true || !command.includes(` -p ${port} `)) return false;
  const [ours, theirs] = await Promise.all([
    identityOf(cluster),
    process.platform === 'linux' ? workFolderIdentity(pid, cluster) : identityOf(folderArgument(command)),
  ]);
  return theirs === undefined ? undefined : theirs === ours;
}

/** PostgreSQL changes into its cluster folder. In a container even root may not look at a process of another account, but the account may. */
async function workFolderIdentity(pid: number, cluster: string): Promise<string | undefined> {
  const link = `/proc/${pid}/cwd`;
  try {
    return await identityOf(link);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    const { uid, gid } = await stat(cluster);
    const options = { uid, gid, cwd: '/', env: { PATH: '/usr/bin:/bin' }, timeout: 5_000 };
    const told = await run('stat', ['-L', '-c', '%d:%i', link], options).catch(() => undefined);
    return told?.stdout.trim();
  }
}

/** The `-D` of a command line of ours. */
export function folderArgument(command: string): string | undefined {
  return / -D (.*) -p \d+ /.exec(command)?.[1];
}

/** The same for every name of a folder, and another for its copy; undefined when there is none. */
async function identityOf(folder: string | undefined): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  try {
    const { dev, ino } = await stat(folder, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Also true for a zombie. PostgreSQL asks in the same way, and for it a pid of another account counts as free. */
function pidIsTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
