import pLimit from 'p-limit';

export type QueueLimits = {
  /** Waiting callers; further ones are refused. */
  readonly maxWaiting: number;
  readonly waitMs: number;
};

/**
 * A caller waits for its account's queue (half of `waitMs`), then for a connection, then for its statement (15 s). The sum is 30 s, which is
 * how long clients usually wait.
 */
export const defaultQueueLimits: QueueLimits = { maxWaiting: 2_000, waitMs: 10_000 };

/**
 * Lets `slots` callers at a time use the connection pool; one that waits too long gets what `refusal` makes. The pool's own queue
 * has one time limit for waiting and for connecting, so it cannot distinguish a busy database from an unreachable one.
 */
export function createConnectionQueue(slots: number, { maxWaiting, waitMs }: QueueLimits, refusal: () => Error) {
  const limit = pLimit(slots);
  return <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= maxWaiting) return Promise.reject(refusal());
    return new Promise<T>((resolve, reject) => {
      let isRefused = false;
      const timer = setTimeout(() => {
        isRefused = true;
        reject(refusal());
      }, waitMs);
      void limit(async () => {
        clearTimeout(timer);
        if (!isRefused) await work().then(resolve, reject);
      });
    });
  };
}

/** Runs one piece of work at a time for each key. A key is stored only while it has work. */
export function createExclusiveQueues(limits: QueueLimits, refusal: () => Error) {
  const queues = new Map<string, { readonly enter: ReturnType<typeof createConnectionQueue>; users: number }>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(key) ?? { enter: createConnectionQueue(1, limits, refusal), users: 0 };
    queues.set(key, queue);
    queue.users += 1;
    try {
      return await queue.enter(work);
    } finally {
      queue.users -= 1;
      if (queue.users === 0) queues.delete(key);
    }
  };
}
