import { setTimeout as delay } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { TaskToStart } from '../domain/ports.ts';
import { isUnavailable } from './connect.ts';

export type TaskStarter<Task> = {
  /** Takes a task and returns immediately; never throws. */
  readonly start: (task: Task) => void;
  /** Waits until every task was tried, for `limitMs` at most. */
  readonly drain: (limitMs: number) => Promise<void>;
};

/** Starts that run at the same time. */
const concurrency = 8;
/** Tasks that wait in memory; more than these are left to `reconcile`, which reads the database. */
const maxWaiting = 10_000;
/** Between two attempts while Temporal is unavailable. */
const probePauseMs = 500;

type Place<Task> = { readonly place: number; readonly task: Task; hasFailed: boolean };

/**
 * Starts workflows after createTask has answered, in order of arrival and with bounded concurrency. While Temporal is
 * unavailable only the first task is retried, and all others wait behind it, so that they start in order afterwards.
 * `onError` takes a task's first failure. A start that Temporal refuses is not retried: `reconcile` settles it within the
 * minute, like the tasks of a process that was killed.
 */
export function createTaskStarter<Task = TaskToStart>(
  startTask: (task: Task) => Promise<unknown>,
  onError: (error: unknown, task: Task) => void,
): TaskStarter<Task> {
  const waiting: Place<Task>[] = [];
  let arrivals = 0;
  let running = 0;
  let isOutage = false;
  let isDraining = false;
  let idle: (() => void) | undefined;

  function runMore(): void {
    while (waiting.length > 0 && running < (isOutage ? 1 : concurrency)) {
      running += 1;
      void run();
    }
    if (running === 0) idle?.();
  }

  async function run(): Promise<void> {
    const first = waiting.shift();
    if (first !== undefined) await tryStart(first);
    running -= 1;
    runMore();
  }

  async function tryStart(first: Place<Task>): Promise<void> {
    try {
      await startTask(first.task);
      isOutage = false;
    } catch (error) {
      if (!first.hasFailed) onError(error, first.task);
      if (isDraining || !isUnavailable(error)) return;
      isOutage = true;
      putBack({ ...first, hasFailed: true });
      await delay(probePauseMs);
    }
  }

  /** Tasks that were tried at the same time fail in any order, and queue up again in order of arrival. */
  function putBack(tried: Place<Task>): void {
    const next = waiting.findIndex(({ place }) => place > tried.place);
    waiting.splice(next === -1 ? waiting.length : next, 0, tried);
  }

  return {
    start: (task) => {
      if (waiting.length >= maxWaiting) return;
      waiting.push({ place: (arrivals += 1), task, hasFailed: false });
      runMore();
    },
    drain: async (limitMs) => {
      isDraining = true;
      if (running === 0) return;
      const allTried = new Promise<void>((resolve) => (idle = resolve));
      await pTimeout(allTried, { milliseconds: limitMs, fallback: () => undefined });
    },
  };
}
