import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { waitFor } from '../support/wait-for.ts';

/** One process of the installation, as an orchestrator has it. */
export type Member = {
  readonly name: string;
  /** Of the process that runs now. */
  readonly pid: () => number;
  /** Asks it to end and waits until it has; throws when it ends in another way than it should. */
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Starts it at its address, and resolves when it is ready. */
  start(): Promise<void>;
};

export type MemberProgram = {
  readonly name: string;
  readonly start: () => ChildProcess;
  /** Asks it once whether it does its work. */
  readonly isReady: () => Promise<boolean>;
};

/** Far above what any of them takes, so that a hanging one fails its test and not the whole file. */
const limitMs = 90_000;

/** Starts a process and watches it: one that dies while it starts is told of at once. */
export async function startMember({ name, start, isReady }: MemberProgram): Promise<Member> {
  let child: ChildProcess;
  const launch = async () => {
    const own = (child = start());
    await waitFor(
      `${name} to be ready`,
      async () => {
        if (hasEnded(own)) throw new Error(`${name} ended with ${own.exitCode ?? own.signalCode}`);
        return (await isReady()) ? true : undefined;
      },
      limitMs,
    );
  };
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded(child)) return;
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(limitMs) });
    child.kill(signal);
    await ended;
  };
  await launch();
  return {
    name,
    pid: () => child.pid ?? 0,
    stop: async () => {
      await end('SIGTERM');
      if (child.exitCode !== 0) throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}`);
    },
    kill: () => end('SIGKILL'),
    start: launch,
  };
}

/** Starts a program that is not ours; what it says goes to a file. */
export function spawnLogged(file: string, args: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  return spawn(file, args, { stdio: ['ignore', log, log] });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
