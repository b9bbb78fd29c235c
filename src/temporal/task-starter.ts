import { setTimeout as delay } from 'node:timers/promises';

/** A task that was accepted and waits for its workflow to be started. */
export type AcceptedTask = { readonly taskId: string; readonly accountId: string; readonly model: string };

export type TaskStarter<Task> = {
  /** Takes a task and returns at once; never throws. */
  readonly start: (task: Task) => void;
  /** Waits until everything taken was tried, for `limitMs` at most. */
  readonly drain: (limitMs: number) => Promise<void>;
};

/** Starts that run at the same time. */
const concurrency = 8;
/** Tasks that wait in memory; what comes beyond is left to `reconcile`, which reads the database. */
const maxWaiting = 10_000;
/** Between two tries while Temporal is away. */
const probePauseMs = 500;

type Place<Task> = { readonly place: number; readonly task: Task; hasFailed: boolean };

/**
 * Starts workflows behind the answers of createTask, in order of arrival and with bounded concurrency. While Temporal is
 * away only the first task is tried, on and on, and all others wait behind it, so that they go in order when it is back.
 * `onError` is told of a task's first failure. A start that Temporal refuses is given up: `reconcile` comes to it within
 * the minute, as it does to everything that a process takes with it.
 */
export function createTaskStarter<Task = AcceptedTask>(
  startTask: (task: Task) => Promise<unknown>,
  onError: (error: unknown, task: Task) => void,
): TaskStarter<Task> {
  const waiting: Place<Task>[] = [];
  let arrivals = 0;
  let running = 0;
  let isAway = false;
  let isDraining = false;
  let idle: (() => void) | undefined;

  function runMore(): void {
    while (waiting.length > 0 && running < (isAway ? 1 : concurrency)) {
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
      isAway = false;
    } catch (error) {
      if (!first.hasFailed) onError(error, first.task);
      if (isDraining || !(await saysAway(error))) return;
      isAway = true;
      putBack({ ...first, hasFailed: true });
      await delay(probePauseMs);
    }
  }

  /** Those that were tried at the same time fail in any order, and queue up again in that of their arrival. */
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
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs);
        idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

/** Asks code that belongs to Temporal's client, which an API loads late. Where not even that can be loaded the start is given up. */
async function saysAway(error: unknown): Promise<boolean> {
  try {
    const { isEngineAway } = await import('./is-engine-away.ts');
    return isEngineAway(error);
  } catch {
    return false;
  }
}
