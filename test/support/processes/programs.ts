import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killAll } from './processes.ts';

/** Programs that tests have started and that have not ended, with the data folder by which their own servers are found. */
const running = new Map<ChildProcess, string | undefined>();

/** Far above what a start, a drain or a command takes on a busy machine. */
const limitMs = 180_000;

export type ProgramOptions = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string | undefined;
  /** The folder of the servers that it starts in sessions of their own, when it does. */
  readonly dataFolder?: string | undefined;
  readonly stdio?: SpawnOptions['stdio'];
};

/**
 * Starts a program of Node.js (the path of a compiled file, from `test/support/`) in a process group of its own. `endPrograms` kills what it leaves
 * running.
 */
export function startProgram(file: string, args: readonly string[], options: ProgramOptions): ChildProcess {
  const { env, cwd, dataFolder, stdio = 'inherit' } = options;
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { env, cwd, stdio, detached: true });
  running.set(child, dataFolder);
  return child;
}

/** Kills what these programs, or all that this file has started, left running: their process groups and their servers. */
export async function endPrograms(programs: readonly ChildProcess[] = [...running.keys()]): Promise<void> {
  for (const child of programs) {
    await killAll({ group: child.pid, folder: running.get(child) });
    running.delete(child);
  }
}

export type End = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Waits for the end of a program. One that does not end is killed, and the test fails. */
export async function endOf(child: ChildProcess): Promise<End> {
  if (child.exitCode === null && child.signalCode === null) {
    const timeout = AbortSignal.timeout(limitMs);
    await once(child, 'exit', { signal: timeout }).catch(async (cause: unknown) => {
      await endPrograms([child]);
      throw new Error(`process ${child.pid} did not end within ${limitMs} ms`, { cause });
    });
  }
  if (child.exitCode === 0) running.delete(child);
  return { code: child.exitCode, signal: child.signalCode };
}
