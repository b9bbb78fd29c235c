import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RunningProcess } from './running-process.ts';

const run = promisify(execFile);

/** What `ps` prints: the state, the start in 24 characters, the command line. */
const psLine = /^\s*(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/m;

/**
 * The process with this pid where there is no `/proc`, which is macOS; undefined when there is none or it is a zombie.
 * The time zone is fixed, or the same process would look like another one from a shell with another `TZ`.
 */
export async function processFromPs(pid: number): Promise<RunningProcess | undefined> {
  const env = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };
  const columns = ['-ww', '-o', 'stat=', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)];
  const { stdout } = await run('ps', columns, { env, timeout: 5_000 }).catch(noSuchProcess);
  const match = psLine.exec(stdout);
  const [, state, startedAt, command] = match ?? [];
  if (state === undefined || startedAt === undefined || command === undefined || state.startsWith('Z'))
    return undefined;
  return { pid, startedAt, command: command.trim() };
}

/** `ps` ends with 1 for an unknown pid. Any other fault must not look like a process that is gone. */
function noSuchProcess(error: unknown): { stdout: string } {
  if (error instanceof Error && 'code' in error && error.code === 1) return { stdout: '' };
  throw error;
}
