import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createTaskFinder } from '../../stores/callers.ts';
import type { Database } from '../../stores/database.ts';
import { listEndedAmong } from '../../stores/tasks.ts';
import type { Context } from '../context.ts';

/** A longer wait is shortened to this, which the answer says in `Preference-Applied`. */
const maxWaitSeconds = 60;

/** Documents an endpoint that can hold its answer. */
export const preferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    // No example: /docs would fill it in, and a person who tries the operation out would wait.
    .meta({
      description: `\`wait=N\` holds the answer until the task ends or N seconds (at most ${maxWaitSeconds}) have passed.`,
    }),
});

export const preferenceApplied = { 'Preference-Applied': '`wait=N` when the answer was held back as asked.' };

/**
 * Holds the answer as `Prefer: wait=N` asks (RFC 7240, section 4.3), and answers whether it did: until the task ends, the client
 * goes away or the service shuts down. A preference that cannot be read is ignored.
 */
export async function longPoll(
  ctx: Context,
  taskWaiters: TaskWaiters,
  { taskId, accountId }: Pick<TaskWait, 'taskId' | 'accountId'>,
): Promise<boolean> {
  const asked = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(ctx.get('Prefer'))?.[1] ?? 0;
  const waitSeconds = Math.min(maxWaitSeconds, Number(asked));
  if (waitSeconds === 0) return false;
  const closed = new AbortController();
  ctx.res.once('close', () => closed.abort());
  const held = taskWaiters.wait({ taskId, accountId, waitMs: waitSeconds * 1000, signal: closed.signal });
  if (held === undefined) return false;
  ctx.state.isHeld = true;
  await held;
  ctx.set('Preference-Applied', `wait=${waitSeconds}`);
  return true;
}

export type TaskWait = {
  readonly taskId: string;
  readonly accountId: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

/** A poll reads as many primary keys as there are waiters at most: a thousand take about a millisecond. */
const defaultLimits = { maxWaiters: 1_000, maxPerAccount: 100, pauseMs: 200 };

export type TaskWaiters = ReturnType<typeof createTaskWaiters>;

/** Requests that wait for the end of a task; one statement every `pauseMs` asks for all of them. */
export function createTaskWaiters(db: Database, limits: Partial<typeof defaultLimits> = {}) {
  const { maxWaiters, maxPerAccount, pauseMs } = { ...defaultLimits, ...limits };
  /** Who waits, by what releases it. */
  const waiters = new Map<() => void, TaskWait>();
  let isClosed = false;
  let isPolling = false;
  return {
    /**
     * Resolves when the task has ended, after `waitMs`, when `signal` aborts or on `close`, whichever comes first; never
     * rejects. Undefined when too many wait already: the caller must answer without waiting.
     */
    wait: (wanted: TaskWait): Promise<void> | undefined => {
      const ofAccount = [...waiters.values()].filter(({ accountId }) => accountId === wanted.accountId).length;
      if (isClosed || waiters.size >= maxWaiters || ofAccount >= maxPerAccount) return undefined;
      const released = waitFor(wanted);
      if (!isPolling) void pollWhileAnyWait();
      return released;
    },
    /** Reads the task after the wait; undefined for an unknown task. */
    find: createTaskFinder(db),
    /** Releases every waiter, and takes no more. */
    close: (): void => {
      isClosed = true;
      for (const release of waiters.keys()) release();
    },
  };

  function waitFor(wanted: TaskWait): Promise<void> {
    const { signal, waitMs } = wanted;
    return new Promise((resolve) => {
      const release = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', release);
        waiters.delete(release);
        resolve();
      };
      const timer = setTimeout(release, waitMs);
      waiters.set(release, wanted);
      if (signal.aborted) release();
      else signal.addEventListener('abort', release);
    });
  }

  async function pollWhileAnyWait(): Promise<void> {
    isPolling = true;
    for (await delay(pauseMs); waiters.size > 0; await delay(pauseMs)) {
      const taskIds = new Set([...waiters.values()].map(({ taskId }) => taskId));
      // When the database is unavailable, each waiter has its own limit, and the read behind it answers the client.
      const ended = await listEndedAmong(db, [...taskIds]).catch(() => new Set<string>());
      for (const [release, { taskId }] of waiters) if (ended.has(taskId)) release();
    }
    isPolling = false;
  }
}
