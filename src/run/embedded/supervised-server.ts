import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { commandEndingWithParent } from '../../platform/process/command-ending-with-parent.ts';
import { messageOf, SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { type StopStep, stopProcess } from './inspect-and-stop-process.ts';
import { rotateLogPeriodically, openServerLog, serverLogTail } from './server-log.ts';

/** A server program that this process starts, watches and stops. */
export type ServerProgram = {
  /** The name in messages to the operator, for example `PostgreSQL`. */
  readonly name: string;
  /** The data folder, for messages to the operator. */
  readonly folder: string;
  /** Receives the server's output. */
  readonly logFile: string;
  /**
   * Prepares one start. Until the server has served, each start chooses its ports again, because another program may have taken one since
   * it was found free. A restart reuses them, because clients have their addresses.
   */
  readonly launch: (start: { readonly isRestart: boolean }) => Promise<Launch>;
  /** Returns true if this child, and not another program at its address, is ready. Throws if it never will be. */
  readonly serves: (child: ChildProcess) => Promise<boolean>;
  /** Advice to the operator for a server that does not start. */
  readonly advice?: string;
  readonly stopSteps: readonly StopStep[];
  readonly log: (message: string) => void;
  /** Aborts the first start, which then leaves no process running. */
  readonly signal?: AbortSignal | undefined;
};

type Launch = { readonly file: string; readonly args: readonly string[]; readonly options: SpawnOptions };

export type SupervisedServer = {
  /** The pid of the current process, which a restart changes. */
  readonly pid: number;
  /** Ends supervision, then the process. Safe to call more than once. */
  readonly stop: () => Promise<void>;
};

/** After a crash PostgreSQL replays its log, which takes seconds, rarely a minute. */
const readyWithinMs = 120_000;
/** The first start is retried: a killed PostgreSQL leaves backends for a time, and another program may take its port. */
const maxStarts = 6;
const pollEveryMs = 20;
const pauseBetweenStartsMs = 300;
const firstBackoffMs = 100;
const maxBackoffMs = 15_000;

/** Starts a server, resolves once it is ready, and restarts it whenever it dies. Does not keep Node alive. */
export async function startSupervisedServer(program: ServerProgram): Promise<SupervisedServer> {
  const { name, log, logFile } = program;
  let child = await firstStart(program);
  const stopping = new AbortController();
  const watch = async () => {
    while (!stopping.signal.aborted) {
      if (!hasEnded(child)) await once(child, 'exit', { signal: stopping.signal });
      log(`${name} (process ${child.pid}) has died; restarting it.`);
      child = await restarted(program, stopping.signal);
      log(`${name} was restarted (process ${child.pid}).`);
    }
  };
  // Only the signal ends the watch.
  const watching = watch().catch(() => {});
  const bounding = rotateLogPeriodically(logFile);
  const stop = async () => {
    stopping.abort();
    clearInterval(bounding);
    await watching;
    await end(program, child);
  };
  return {
    get pid() {
      return child.pid ?? 0;
    },
    stop,
  };
}

/** Stops a server that is still running although its process was killed, because two cannot run on one folder. `find` returns its pid. */
export async function stopOrphan(
  { name, log, stopSteps }: Pick<ServerProgram, 'name' | 'log' | 'stopSteps'>,
  find: () => Promise<number | undefined>,
): Promise<void> {
  const pid = await find();
  if (pid === undefined) return;
  log(`${name} was still running (process ${pid}); restarting it.`);
  await stopProcess(pid, async () => (await find()) !== pid, stopSteps);
}

async function firstStart(program: ServerProgram): Promise<ChildProcess> {
  const startBefore = Date.now() + readyWithinMs;
  for (let starts = 0; starts < maxStarts && Date.now() < startBefore; starts++) {
    const child = await startOnce(program, false, program.signal);
    if (child !== undefined) return child;
    await pause(pauseBetweenStartsMs);
  }
  throw new SetupError(await startError(program));
}

async function restarted(program: ServerProgram, signal: AbortSignal): Promise<ChildProcess> {
  for (let backoffMs = firstBackoffMs; ; backoffMs = Math.min(maxBackoffMs, backoffMs * 2)) {
    // Also before the first attempt: a server that dies as soon as it runs must not be restarted in a tight loop.
    await pause(backoffMs, undefined, { ref: false, signal });
    try {
      const child = await startOnce(program, true, signal);
      if (child !== undefined) return child;
      program.log(await startError(program));
    } catch (error) {
      signal.throwIfAborted();
      program.log(`${program.name} did not start: ${messageOf(error)}`);
    }
  }
}

/** Starts the server once. Returns undefined if it ended, or was not ready in time. */
async function startOnce(
  program: ServerProgram,
  isRestart: boolean,
  signal?: AbortSignal,
): Promise<ChildProcess | undefined> {
  signal?.throwIfAborted();
  const child = await spawnServer(program, isRestart);
  let isServing = false;
  try {
    for (const deadline = Date.now() + readyWithinMs; Date.now() < deadline; await pause(pollEveryMs)) {
      signal?.throwIfAborted();
      if (hasEnded(child)) return undefined;
      // If the child has ended by now, another program responded.
      isServing = (await program.serves(child)) && !hasEnded(child);
      if (isServing) return child;
    }
    return undefined;
  } finally {
    if (!isServing) await end(program, child);
  }
}

/** Starts the server detached, so that a Ctrl-C in our terminal does not reach it. It ends with this process. */
async function spawnServer({ launch, logFile, stopSteps }: ServerProgram, isRestart: boolean): Promise<ChildProcess> {
  const { file, args, options } = await launch({ isRestart });
  const log = await openServerLog(logFile);
  try {
    const steps = stopSteps.map(({ signal, waitMs }) => [signal, Math.ceil(waitMs / 1000)] as const);
    const bound = commandEndingWithParent(file, args, steps);
    const stdio: SpawnOptions['stdio'] = ['pipe', log.fd, log.fd];
    const child = spawn(bound.file, bound.args, { ...options, stdio, detached: true });
    await once(child, 'spawn');
    child.unref();
    unrefPipe(child.stdin);
    return child;
  } finally {
    await log.close();
  }
}

/** The pipe stays open as long as this process lives, and does not keep it alive. */
function unrefPipe(pipe: Writable | null): void {
  pipe?.on('error', () => {});
  // It is a socket, which its declared type does not mention.
  (pipe as { readonly unref?: () => void } | null)?.unref?.();
}

async function startError({ name, folder, advice, logFile }: ServerProgram): Promise<string> {
  const sentences = [`${name} does not start on ${folder}.`, ...(advice === undefined ? [] : [advice])];
  return `${sentences.join(' ')} The end of its log:\n${await serverLogTail(logFile)}`;
}

function end({ stopSteps }: ServerProgram, child: ChildProcess): Promise<void> {
  return stopProcess(child.pid ?? 0, () => Promise.resolve(hasEnded(child)), stopSteps);
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
