import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export type Child = {
  readonly pid: number;
  /** Receives the messages that the child sends. */
  readonly onSaid: (hear: (said: unknown) => void) => void;
  readonly tell: (word: Serializable) => void;
  /** Sends SIGTERM, and SIGKILL if the child still runs after a while. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
};

const stopLimitMs = 20_000;

/**
 * `BENCH_PROFILE` names a folder in which every process writes a CPU profile.
 * The figures of such a run mean nothing.
 */
const profileFolder = process.env['BENCH_PROFILE'];
const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];

const running = new Set<ChildProcess>();

/** Ends all child processes when the bench is interrupted. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/**
 * Runs a script of this build, whose path is relative to `bench/`, in a process
 * of its own.
 */
export function startChild(script: string, env: NodeJS.ProcessEnv, args: readonly string[] = []): Child {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, [...args], {
    env,
    execArgv: ['--enable-source-maps', ...profiling],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  if (child.pid === undefined) throw new Error(`${script} could not be started`);
  return {
    pid: child.pid,
    onSaid: (hear) => child.on('message', hear),
    tell: (word) => child.send(word),
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  child.kill(signal);
  await once(child, 'exit');
  clearTimeout(timer);
}

/** Returns the resident memory of a process in MB. Linux only. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
