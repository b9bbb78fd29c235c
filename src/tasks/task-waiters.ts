import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../platform/database/database.ts';
import { createSharedPoll } from '../platform/timing/shared-poll.ts';
import { listEndedAmong } from './task-rows.ts';

export type TaskWait = {
  readonly taskId: string;
  readonly accountId: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

/** A poll reads as many primary keys as there are waiters at most: a thousand take about a millisecond. */
const defaultLimits = { maxWaiters: 1_000, maxPerAccount: 100, pauseMs: 200 };

export type TaskWaiters = ReturnType<typeof createTaskWaiters>;

/** Requests that wait for the end of a task; one statement every `pauseMs` serves all of them. */
export function createTaskWaiters(db: Database, limits: Partial<typeof defaultLimits> = {}) {
  const { maxWaiters, maxPerAccount, pauseMs } = { ...defaultLimits, ...limits };
  type Waiter = TaskWait & { readonly released: AbortController };
  const { watchers: waiters, watch } = createSharedPoll<Waiter>({
    everyMs: pauseMs,
    poll: async (waiting) => {
      const ended = await listEndedAmong(db, [...new Set([...waiting].map(({ taskId }) => taskId))]);
      for (const { taskId, released } of waiting) if (ended.has(taskId)) released.abort();
    },
    // While the database is unavailable, each wait ends at its own limit, and the read after it responds to the client.
    onError: () => {},
  });
  let isClosed = false;
  return {
    /**
     * Resolves when the task has ended, after `waitMs`, when `signal` aborts or on `close`, whichever comes first; never
     * rejects. Returns undefined when too many requests wait already: the caller must respond without waiting.
     */
    wait: (request: TaskWait): Promise<void> | undefined => {
      const ofAccount = [...waiters].filter(({ accountId }) => accountId === request.accountId).length;
      if (isClosed || waiters.size >= maxWaiters || ofAccount >= maxPerAccount) return undefined;
      return waitFor({ ...request, released: new AbortController() });
    },
    /** Ends every wait, and accepts no new one. */
    close: (): void => {
      isClosed = true;
      for (const { released } of waiters) released.abort();
    },
  };

  async function waitFor(waiter: Waiter): Promise<void> {
    const stop = watch(waiter);
    const signal = AbortSignal.any([waiter.signal, waiter.released.signal]);
    await delay(waiter.waitMs, undefined, { signal }).catch(() => undefined);
    stop();
  }
}
