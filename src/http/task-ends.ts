import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../stores/database.ts';
import { listEndedAmong } from '../stores/tasks.ts';

/** Holds answers back until tasks end, all of them over one look at the database every `pauseMs`. */
export type TaskEnds = {
  /**
   * Resolves when the task has ended, after `waitMs`, when `signal` aborts or on `close`, whatever comes first; never
   * rejects. Answers undefined at once when too many wait already: the caller must not hold its answer.
   */
  wait(wanted: TaskWait): Promise<void> | undefined;
  /** Lets everyone go, and takes nobody any more. */
  close(): void;
};

export type TaskWait = {
  readonly taskId: string;
  readonly accountId: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

export type TaskEndsLimits = { readonly maxWaiters: number; readonly maxPerAccount: number; readonly pauseMs: number };

/** A look reads as many primary keys as there are waiters at most: a thousand take about a millisecond. */
const defaultLimits: TaskEndsLimits = { maxWaiters: 1_000, maxPerAccount: 100, pauseMs: 200 };

type Waiter = { readonly taskId: string; readonly accountId: string; readonly release: () => void };

export function createTaskEnds(db: Database, limits: Partial<TaskEndsLimits> = {}): TaskEnds {
  const { maxWaiters, maxPerAccount, pauseMs } = { ...defaultLimits, ...limits };
  const waiters = new Set<Waiter>();
  let isClosed = false;
  let isLooking = false;
  return {
    wait: (wanted) => {
      const ofAccount = [...waiters].filter(({ accountId }) => accountId === wanted.accountId).length;
      if (isClosed || waiters.size >= maxWaiters || ofAccount >= maxPerAccount) return undefined;
      const released = waitFor(waiters, wanted);
      if (!isLooking) void lookWhileAnyWait();
      return released;
    },
    close: () => {
      isClosed = true;
      for (const waiter of waiters) waiter.release();
    },
  };

  async function lookWhileAnyWait(): Promise<void> {
    isLooking = true;
    while (waiters.size > 0) {
      await delay(pauseMs);
      await releaseEnded(db, waiters);
    }
    isLooking = false;
  }
}

function waitFor(waiters: Set<Waiter>, { taskId, accountId, waitMs, signal }: TaskWait): Promise<void> {
  return new Promise((resolve) => {
    const waiter: Waiter = { taskId, accountId, release };
    const timer = setTimeout(release, waitMs);
    signal.addEventListener('abort', release, { once: true });
    waiters.add(waiter);
    if (signal.aborted) release();
    function release(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', release);
      waiters.delete(waiter);
      resolve();
    }
  });
}

async function releaseEnded(db: Database, waiters: ReadonlySet<Waiter>): Promise<void> {
  if (waiters.size === 0) return;
  try {
    const ended = await listEndedAmong(db, [...new Set([...waiters].map(({ taskId }) => taskId))]);
    for (const waiter of waiters) if (ended.has(waiter.taskId)) waiter.release();
  } catch {
    // The database is away for a moment: those who wait have their own limit, and the read behind it tells the client.
  }
}
