import { setTimeout as timer } from 'node:timers/promises';
import { isStillRunning, type RunningProcess } from './running-process.ts';

export type Supervised = {
  /** For the operator's log, for example `PostgreSQL`. */
  readonly name: string;
  readonly first: RunningProcess;
  /** Brings it up again at the same address; throws when it does not come up, and leaves no process behind then. */
  readonly restart: () => Promise<RunningProcess>;
  /** Ends the process within bounds. */
  readonly end: (running: RunningProcess) => Promise<void>;
  /** Called about once a minute, to bound logs. */
  readonly housekeeping: () => Promise<void>;
  readonly log: (message: string) => void;
};

export type Supervisor = {
  /** Of the process that runs now; another one after a restart. */
  readonly pid: () => number;
  /** Ends supervision, then the process. Safe to call more than once. */
  readonly stop: () => Promise<void>;
};

const lookEveryMs = 200;
const looksPerMinute = 60_000 / lookEveryMs;
const firstBackoffMs = 100;
const maxBackoffMs = 15_000;

/**
 * Watches a server and starts it again whenever it dies, with pauses that double from 0.1 to 15 seconds while it does not come
 * up. It looks at the pid instead of listening to the child, because an adopted server is nobody's child here.
 * Nothing in here keeps Node alive.
 */
export function supervise(supervised: Supervised): Supervisor {
  const stopping = new AbortController();
  const current = { running: supervised.first };
  const watching = watch(supervised, current, stopping.signal);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopping.abort();
    await watching;
    await supervised.end(current.running);
  };
  return { pid: () => current.running.pid, stop: () => (stopped ??= stop()) };
}

async function watch(
  supervised: Supervised,
  current: { running: RunningProcess },
  stopping: AbortSignal,
): Promise<void> {
  for (let looks = 1; !stopping.aborted; looks++) {
    await pause(lookEveryMs, stopping);
    if (looks % looksPerMinute === 0) await supervised.housekeeping().catch(() => undefined);
    if (stopping.aborted || (await isStillRunning(current.running).catch(() => true))) continue;
    supervised.log(`${supervised.name} (process ${current.running.pid}) has died; starting it again.`);
    const restarted = await restartUntilItRuns(supervised, stopping);
    if (restarted === undefined) return;
    current.running = restarted;
    supervised.log(`${supervised.name} runs again (process ${restarted.pid}).`);
  }
}

async function restartUntilItRuns(supervised: Supervised, stopping: AbortSignal): Promise<RunningProcess | undefined> {
  for (let backoffMs = firstBackoffMs; !stopping.aborted; backoffMs = Math.min(maxBackoffMs, backoffMs * 2)) {
    // Also before the first try: a server that dies as soon as it runs must not be restarted in a tight loop.
    await pause(backoffMs, stopping);
    if (stopping.aborted) return undefined;
    try {
      return await supervised.restart();
    } catch (error) {
      supervised.log(`${supervised.name} did not come up: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return undefined;
}

/** Ends early, without an error, when supervision is being stopped. */
async function pause(ms: number, stopping: AbortSignal): Promise<void> {
  await timer(ms, undefined, { ref: false, signal: stopping }).catch(() => undefined);
}
