import { readFile } from 'node:fs/promises';
import { processFromPs } from './process-from-ps.ts';

/** One process for as long as it lives. The pid alone is no identity: the system gives it to another program later. */
export type RunningProcess = {
  readonly pid: number;
  /** Opaque text, equal for as long as it is the same process; on Linux it also names the boot of the machine. */
  readonly startedAt: string;
  /** The program and its arguments, joined by single spaces. */
  readonly command: string;
};

/** The process with this pid, or undefined when there is none. A zombie counts as none: it has ended, nobody reaped it yet. */
export function runningProcess(pid: number): Promise<RunningProcess | undefined> {
  return process.platform === 'linux' ? processFromProc(pid) : processFromPs(pid);
}

/** True while this very process lives; false once it has ended, also when its pid belongs to another one by now. */
export async function isStillRunning({ pid, startedAt }: RunningProcess): Promise<boolean> {
  // `ps` is a whole process to start, so a pid that does not exist at all is settled without it.
  if (process.platform !== 'linux' && !pidExists(pid)) return false;
  return (await runningProcess(pid))?.startedAt === startedAt;
}

function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Fields 3 (state) and 22 (start, in ticks since the boot) of proc_pid_stat(5); field 2 may itself hold spaces and brackets. */
async function processFromProc(pid: number): Promise<RunningProcess | undefined> {
  try {
    const [stat, command, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    if (ticks === undefined || state === 'Z' || state === 'X') return undefined;
    return { pid, startedAt: `${boot.trim()} ${ticks}`, command: command.split('\0').join(' ').trim() };
  } catch {
    // A process that ends between two reads, or has no entry, is no longer running.
    return undefined;
  }
}
