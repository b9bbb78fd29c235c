import { context } from '@opentelemetry/api';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import type { TaskToStart } from '../tasks/ports.ts';
import { isUnavailable } from './connect.ts';

export type TaskStarter<Task> = {
  /** Takes a task and returns immediately; never throws. */
  readonly start: (task: Task) => void;
  /** Waits until every task was tried, for `limitMs` at most. */
  readonly drain: (limitMs: number) => Promise<void>;
};

const concurrency = 8;
/** Tasks that wait in memory; more than these are left to `reconcile`, which reads the database. */
const maxWaiting = 10_000;
export type StarterLimits = {
  /** Between two attempts while Temporal is unavailable. */
  readonly probePauseMs: number;
};

/**
 * Starts workflows after the response of createTask, a few at a time. While Temporal is unavailable these are retried, and all others
 * wait behind them. A start that Temporal rejects is not retried: `reconcile` does it within the minute.
 */
export function createTaskStarter<Task = TaskToStart>(
  startTask: (task: Task) => Promise<unknown>,
  onError: (error: unknown, task: Task) => void,
  { probePauseMs }: StarterLimits = { probePauseMs: 500 },
): TaskStarter<Task> {
  const limit = pLimit(concurrency);
  let isDraining = false;

  async function startOrRetry(task: Task): Promise<void> {
    for (let hasFailed = false; ; hasFailed = true) {
      try {
        await startTask(task);
        return;
      } catch (error) {
        if (!hasFailed) onError(error, task);
        if (isDraining || !isUnavailable(error)) return;
        await delay(probePauseMs);
      }
    }
  }

  const pending = new Set<Promise<void>>();
  return {
    start: (task) => {
      if (pending.size >= concurrency + maxWaiting) return;
      // A start belongs to the trace of its own request.
      const start = context.bind(context.active(), () => startOrRetry(task));
      const started = limit(start).finally(() => pending.delete(started));
      pending.add(started);
    },
    drain: async (limitMs) => {
      isDraining = true;
      await pTimeout(Promise.all(pending), { milliseconds: limitMs, fallback: () => undefined });
    },
  };
}
