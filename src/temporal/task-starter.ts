import { context } from '@opentelemetry/api';
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
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
 * Starts workflows after the response of createTask. While Temporal is unavailable only the first task is retried, and all others wait
 * behind it, so that they start in order. A start that Temporal rejects is not retried: `reconcile` settles it within the minute.
 */
export function createTaskStarter<Task = TaskToStart>(
  startTask: (task: Task) => Promise<unknown>,
  onError: (error: unknown, task: Task) => void,
  { probePauseMs }: StarterLimits = { probePauseMs: 500 },
): TaskStarter<Task> {
  const queue = new PQueue({ concurrency });
  let arrivals = 0;
  let isDraining = false;

  /** Tasks that were tried at the same time fail in any order, and queue up again in the order of arrival. */
  function add(task: Task, position: number, hasFailed: boolean): void {
    // A start belongs to the trace of its own request.
    const start = context.bind(context.active(), () => tryStart(task, position, hasFailed));
    void queue.add(start, { priority: -position });
  }

  async function tryStart(task: Task, position: number, hasFailed: boolean): Promise<void> {
    try {
      await startTask(task);
      queue.concurrency = concurrency;
    } catch (error) {
      if (!hasFailed) onError(error, task);
      if (isDraining || !isUnavailable(error)) return;
      queue.concurrency = 1;
      add(task, position, true);
      await delay(probePauseMs);
    }
  }

  return {
    start: (task) => {
      if (queue.size < maxWaiting) add(task, (arrivals += 1), false);
    },
    drain: async (limitMs) => {
      isDraining = true;
      await pTimeout(queue.onIdle(), { milliseconds: limitMs, fallback: () => undefined });
    },
  };
}
