import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { commandOf } from './running-process.ts';

// Which server runs on a cluster folder. PostgreSQL says so in `postmaster.pid`, but a copied folder brings along the file of the
// server of its original, so the file alone never decides: the mark in the server's command line does.

export type Postmaster = {
  readonly pid: number;
  readonly port: number;
  /** It listens and takes connections. */
  readonly isReady: boolean;
};

/** A setting without effect that names the folder: the same for every path to it, and another for its copy. */
export async function folderMark(cluster: string): Promise<string> {
  const { dev, ino } = await stat(cluster, { bigint: true });
  return `${markName}${dev}:${ino}`;
}

const markName = 'videogen.folder=';

/** What the folder records: the pid in the first line, the port in the fourth, the state in the eighth, which is written last. */
export async function recordedPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return Number.isInteger(pid) && pid > 0 ? { pid, port, isReady: lines[7]?.trim() === 'ready' } : undefined;
}

/** The server that runs on this cluster folder, also one of an earlier process; never one that runs on another folder. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const recorded = await recordedPostmaster(cluster);
  if (recorded === undefined) return undefined;
  const words = (await commandOf(recorded.pid))?.split(' ') ?? [];
  return words.includes(await folderMark(cluster)) ? recorded : undefined;
}

/** How long a dead server may take to be reaped. */
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
    const command = await commandOf(recorded.pid);
    if (command === undefined && Date.now() < deadline) continue;
    if (command !== undefined && mayServe(command, recorded.port, await folderMark(cluster))) return;
    return rm(join(cluster, 'postmaster.pid'), { force: true });
  }
}

/** Also true for a server without a mark, which is not one of ours, or an older one. */
function mayServe(command: string, port: number, mark: string): boolean {
  if (command.includes(markName)) return command.split(' ').includes(mark);
  return command.includes('postgres') && command.includes(` -p ${port} `);
}

/** Also true for a zombie. PostgreSQL asks in the same way, and for it a pid of another account counts as free. */
function pidIsTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
