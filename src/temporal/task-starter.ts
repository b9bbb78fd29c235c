/** A task that was accepted and waits for its workflow to be started. */
export type AcceptedTask = { readonly taskId: string; readonly accountId: string; readonly model: string };

export type TaskStarter = {
  /** Takes a task and returns at once; never throws. */
  readonly start: (task: AcceptedTask) => void;
  /** Waits until everything taken was tried, for `limitMs` at most. */
  readonly drain: (limitMs: number) => Promise<void>;
};

/** Starts that run at the same time. */
const concurrency = 32;
/** Tasks that wait in memory; what comes beyond is left to `reconcile`, which reads the database. */
const maxWaiting = 10_000;

/**
 * Starts workflows behind the answers of createTask, in order of arrival and with bounded concurrency. A start that
 * fails is not repeated here: the task is in the database, and `reconcile` starts it within the minute.
 */
export function createTaskStarter(
  startTask: (task: AcceptedTask) => Promise<void>,
  onError: (error: unknown, task: AcceptedTask) => void,
): TaskStarter {
  const waiting: AcceptedTask[] = [];
  let running = 0;
  let idle: (() => void) | undefined;

  async function run(first: AcceptedTask): Promise<void> {
    for (let task: AcceptedTask | undefined = first; task !== undefined; task = waiting.shift()) {
      try {
        await startTask(task);
      } catch (error) {
        onError(error, task);
      }
    }
    running -= 1;
    if (running === 0) idle?.();
  }

  return {
    start: (task) => {
      if (running < concurrency) {
        running += 1;
        void run(task);
      } else if (waiting.length < maxWaiting) waiting.push(task);
    },
    drain: async (limitMs) => {
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
