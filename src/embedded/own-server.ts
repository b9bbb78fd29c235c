import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type StopStep, stopProcess } from './running-process.ts';

/** A server program that this process starts, watches and stops. */
export type ServerProgram = {
  /** For the operator's log, for example `PostgreSQL`. */
  readonly name: string;
  /** Starts it once. */
  readonly start: () => Promise<ChildProcess>;
  /** Asks it once whether this child, and not another program at its address, serves us. Throws when it never will. */
  readonly serves: (child: ChildProcess) => Promise<boolean>;
  /** A server that does not serve within this time is stopped, and the start has failed. */
  readonly readyWithinMs: number;
  /** Starts that may fail before the first one that serves; none begins later than `readyWithinMs`. */
  readonly maxStarts: number;
  /** The error for the operator when it does not start. */
  readonly fault: () => Promise<Error>;
  readonly stopSteps: readonly StopStep[];
  /** Called about once a minute, to bound logs. */
  readonly housekeeping: () => Promise<void>;
  readonly log: (message: string) => void;
  /** Breaks the first start off; nothing is left running then. */
  readonly signal?: AbortSignal | undefined;
};

export type OwnServer = {
  /** Of the process that runs now; another one after a restart. */
  readonly pid: () => number;
  /** Ends supervision, then the process. Safe to call more than once. */
  readonly stop: () => Promise<void>;
};

const lookEveryMs = 20;
const pauseBetweenStartsMs = 300;
const firstBackoffMs = 100;
const maxBackoffMs = 15_000;

/**
 * Starts a server, resolves once it serves, and starts it again whenever it dies, with pauses that double from 0.1 to 15
 * seconds while it does not come up. Nothing in here keeps Node alive.
 */
export async function runServer(program: ServerProgram): Promise<OwnServer> {
  let child = await firstStart(program);
  const stopping = new AbortController();
  const watching = watch(program, child, stopping.signal, (next) => (child = next));
  const housekeeping = setInterval(() => void program.housekeeping().catch(() => {}), 60_000).unref();
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopping.abort();
    clearInterval(housekeeping);
    await watching;
    await end(program, child);
  };
  return { pid: () => child.pid ?? 0, stop: () => (stopped ??= stop()) };
}

async function firstStart(program: ServerProgram): Promise<ChildProcess> {
  const giveUpAt = Date.now() + program.readyWithinMs;
  for (let starts = 0; starts < program.maxStarts && Date.now() < giveUpAt; starts++) {
    const child = await startOnce(program, program.signal);
    if (child !== undefined) return child;
    await pause(pauseBetweenStartsMs);
  }
  throw await program.fault();
}

/** Undefined when it ended, or did not serve in time. */
async function startOnce(program: ServerProgram, signal?: AbortSignal): Promise<ChildProcess | undefined> {
  signal?.throwIfAborted();
  const child = await program.start();
  try {
    for (const deadline = Date.now() + program.readyWithinMs; Date.now() < deadline; await pause(lookEveryMs)) {
      signal?.throwIfAborted();
      if (hasEnded(child)) return undefined;
      // One that has ended meanwhile was not what answered.
      if ((await program.serves(child)) && !hasEnded(child)) return child;
    }
  } catch (error) {
    await end(program, child);
    throw error;
  }
  await end(program, child);
  return undefined;
}

async function watch(
  program: ServerProgram,
  first: ChildProcess,
  stopping: AbortSignal,
  onRestart: (child: ChildProcess) => void,
): Promise<void> {
  const { name, log } = program;
  for (let child = first; ;) {
    if (!hasEnded(child)) await once(child, 'exit', { signal: stopping }).catch(() => {});
    if (stopping.aborted) return;
    log(`${name} (process ${child.pid}) has died; starting it again.`);
    const next = await restartUntilItRuns(program, stopping);
    if (next === undefined) return;
    onRestart((child = next));
    log(`${name} runs again (process ${child.pid}).`);
  }
}

async function restartUntilItRuns(program: ServerProgram, stopping: AbortSignal): Promise<ChildProcess | undefined> {
  for (let backoffMs = firstBackoffMs; !stopping.aborted; backoffMs = Math.min(maxBackoffMs, backoffMs * 2)) {
    // Also before the first try: a server that dies as soon as it runs must not be restarted in a tight loop.
    await pause(backoffMs, undefined, { ref: false, signal: stopping }).catch(() => {});
    try {
      const child = await startOnce(program, stopping);
      if (child !== undefined) return child;
      program.log((await program.fault()).message);
    } catch (error) {
      if (!stopping.aborted) program.log(`${program.name} did not come up: ${String(error)}`);
    }
  }
  return undefined;
}

function end({ stopSteps }: ServerProgram, child: ChildProcess): Promise<void> {
  return stopProcess(child.pid ?? 0, () => Promise.resolve(hasEnded(child)), stopSteps);
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
