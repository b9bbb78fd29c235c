import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runningProcess, type RunningProcess } from '../processes/running-process.ts';

export type Postmaster = { readonly running: RunningProcess; readonly port: number };

/** The server that runs on this cluster folder, whoever started it; undefined when none does. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const noted = await notedPostmaster(cluster);
  if (noted === undefined) return undefined;
  const running = await runningProcess(noted.pid);
  return running !== undefined && isPostmaster(running, noted.port) ? { running, port: noted.port } : undefined;
}

/**
 * Removes a `postmaster.pid` that would stop PostgreSQL for no reason: its pid belongs to another program since a crash of the
 * machine, or to a zombie that is never reaped (containers without an init). Call it only when `findPostmaster` found none.
 * A file whose pid is free stays: PostgreSQL itself finds it stale, and still uses it to look for surviving backends.
 */
export async function clearStalePostmasterPid(cluster: string, reapWaitMs = 3_000): Promise<void> {
  const deadline = Date.now() + reapWaitMs;
  let noted = await notedPostmaster(cluster);
  while (noted !== undefined && pidIsTaken(noted.pid)) {
    if ((await runningProcess(noted.pid)) !== undefined || Date.now() >= deadline) {
      await rm(join(cluster, 'postmaster.pid'), { force: true });
      return;
    }
    await pause(30);
    noted = await notedPostmaster(cluster);
  }
}

/** Its first line is the pid, its fourth the port; the lines appear one after another while it starts. */
async function notedPostmaster(cluster: string): Promise<{ pid: number; port: number } | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return Number.isInteger(pid) && pid > 0 ? { pid, port } : undefined;
}

/** We start it with `-p <port>`, and only one process can have the port, so the pair tells it from any other PostgreSQL. */
function isPostmaster({ command }: RunningProcess, port: number): boolean {
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
