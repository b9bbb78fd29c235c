import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { commandLineOf } from '../inspect-and-stop-process.ts';

// Finds the server that runs on a cluster folder. `postmaster.pid` names it, but a copied folder has the file of its original's server,
// so the mark in the server's command line decides.

export type PostmasterInfo = {
  readonly pid: number;
  readonly port: number;
  /** True if the server accepts connections. */
  readonly isReady: boolean;
};

/** Returns a setting without effect that names the folder: the same for every path to it, and different for a copy. */
export async function folderMarkSetting(cluster: string): Promise<string> {
  const { dev, ino } = await stat(cluster, { bigint: true });
  return `${markName}${dev}:${ino}`;
}

const markName = 'videogen.folder=';

/** `postmaster.pid` has the pid in its first line, the port in the fourth, and the state, written last, in the eighth. */
export async function recordedPostmaster(cluster: string): Promise<PostmasterInfo | undefined> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return Number.isInteger(pid) && pid > 0 ? { pid, port, isReady: lines[7]?.trim() === 'ready' } : undefined;
}

/** Finds the server that runs on this cluster folder, also one of an earlier process. */
export async function findPostmaster(cluster: string): Promise<PostmasterInfo | undefined> {
  const recorded = await recordedPostmaster(cluster);
  if (recorded === undefined) return undefined;
  const words = (await commandLineOf(recorded.pid))?.split(' ') ?? [];
  return words.includes(await folderMarkSetting(cluster)) ? recorded : undefined;
}

/** A dead server is reaped within this time. */
const reapWaitMs = 3_000;

/**
 * Removes a `postmaster.pid` that would stop PostgreSQL for no reason: its pid belongs to another program since a crash of the
 * machine, to the server of a copied folder, or to a zombie that is never reaped (containers without an init). A file whose pid
 * is free stays, since PostgreSQL finds surviving backends by it, and one whose process may be a server on this folder.
 */
export async function clearStalePid(cluster: string): Promise<void> {
  for (const deadline = Date.now() + reapWaitMs; ; await pause(30)) {
    const recorded = await recordedPostmaster(cluster);
    if (recorded === undefined || !pidIsTaken(recorded.pid)) return;
    const command = await commandLineOf(recorded.pid);
    if (command === undefined && Date.now() < deadline) continue;
    if (command !== undefined && mayServe(command, recorded.port, await folderMarkSetting(cluster))) return;
    return rm(join(cluster, 'postmaster.pid'), { force: true });
  }
}

/** A server that another program started has no mark. */
function mayServe(command: string, port: number, mark: string): boolean {
  if (command.includes(markName)) return command.split(' ').includes(mark);
  return command.includes('postgres') && command.includes(` -p ${port} `);
}

/** Also true for a zombie. PostgreSQL checks in the same way, and treats a pid of another account as free. */
function pidIsTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
