import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { waitFor } from '../wait-for.ts';

/** A server in a process of its own, which can be stopped and started again. */
export type ServerProcess = {
  readonly name: string;
  readonly pid: () => number;
  /** SIGTERM; resolves when it has ended, and rejects when it did not end with 0. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, for its process group if it leads one. */
  readonly kill: () => Promise<void>;
  /** Starts it again, and resolves when it is ready. */
  readonly start: () => Promise<void>;
  /** `kill` and `start`. */
  readonly restart: () => Promise<void>;
};

export type ServerProgram = {
  readonly name: string;
  readonly start: () => ChildProcess;
  readonly isReady: () => Promise<boolean>;
  /** `start` spawns it detached, so that it leads a process group. */
  readonly isGroup?: boolean;
};

/** Far above what any server takes, so that a hanging one fails its test and not the whole file. */
const limitMs = 180_000;

/** Starts a server and waits until it is ready. Rejects as soon as it ends before that. */
export async function startServerProcess(program: ServerProgram): Promise<ServerProcess> {
  const { name, isReady, isGroup = false } = program;
  let child: ChildProcess;
  const start = async () => {
    const own = (child = program.start());
    const look = async () => {
      if (hasEnded(own)) throw new Error(`${name} ended with ${own.exitCode ?? own.signalCode}`);
      return (await isReady()) ? true : undefined;
    };
    await waitFor(`${name} to be ready`, look, limitMs);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded(child) || child.pid === undefined) return;
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(limitMs) });
    process.kill(isGroup ? -child.pid : child.pid, signal);
    await ended;
  };
  const kill = () => end('SIGKILL');
  await start();
  return {
    name,
    pid: () => child.pid ?? 0,
    stop: async () => {
      await end('SIGTERM');
      if (child.exitCode !== 0) throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}`);
    },
    kill,
    start,
    restart: async () => {
      await kill();
      await start();
    },
  };
}

/** Spawns a program that is not ours. Its output goes to a file. */
export function spawnLogged(file: string, args: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const stdio: SpawnOptions['stdio'] = ['ignore', log, log];
  return spawn(file, args, { stdio });
}

export async function isServing(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return response?.ok === true;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
