import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorCode } from '../../platform/setup-errors-and-error-messages.ts';

const run = promisify(execFile);

/** Returns the program and arguments of a process, joined by spaces; undefined if it does not exist or is a zombie. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return commandLineFromPs(pid);
  // A zombie has an empty command line.
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text === '' ? undefined : text.split('\0').join(' ').trim();
}

/** Reads the command on macOS, which has no `/proc`. `ps` exits with 1 for an unknown pid. */
export async function commandLineFromPs(pid: number): Promise<string | undefined> {
  const env = { LC_ALL: 'C', PATH: '/usr/bin:/bin' };
  const columns = ['-ww', '-o', 'stat=', '-o', 'command=', '-p', String(pid)];
  const { stdout } = await run('ps', columns, { env, timeout: 5_000 }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 1) return { stdout: '' };
    throw error;
  });
  const [, command] = /^\s*[^Z\s]\S*\s+(.*)$/m.exec(stdout) ?? [];
  return command?.trim();
}

export type StopStep = { readonly signal: NodeJS.Signals; readonly waitMs: number };

/** Sends the signals one after another, each with its time, until the process has ended; throws if it outlives them all. */
export async function stopProcess(
  pid: number,
  hasEnded: () => Promise<boolean>,
  steps: readonly StopStep[],
): Promise<void> {
  for (const { signal, waitMs } of steps) {
    if (await hasEnded()) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It ended between the check and the signal.
      if (errorCode(error) !== 'ESRCH') throw error;
    }
    for (const deadline = Date.now() + waitMs; Date.now() < deadline; await pause(20)) if (await hasEnded()) return;
  }
  if (!(await hasEnded())) throw new Error(`process ${pid} does not end`);
}
