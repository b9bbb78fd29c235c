export type QueueLimits = {
  /** Callers that may wait; one more is refused at once. */
  readonly maxWaiting: number;
  /** How long each of them waits. */
  readonly waitMs: number;
};

/** With the statement behind it the wait stays below the 30 s that clients usually have patience for. */
export const defaultQueueLimits: QueueLimits = { maxWaiting: 2_000, waitMs: 10_000 };

type Waiter = { readonly proceed: () => void; readonly timer: NodeJS.Timeout };

/**
 * Lets `slots` callers at a time use the connection pool; the others wait in order of arrival, and a caller that finds no
 * slot in time gets what `refusal` makes. The pool's own queue has one time limit for waiting and for connecting, so it
 * cannot tell a busy database from an unreachable one.
 */
export function createConnectionQueue(slots: number, { maxWaiting, waitMs }: QueueLimits, refusal: () => Error) {
  const waiting = new Set<Waiter>();
  let used = 0;

  async function takeSlot(): Promise<void> {
    if (used < slots) {
      used += 1;
      return;
    }
    if (waiting.size >= maxWaiting) throw refusal();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(refusal());
      }, waitMs);
      const waiter: Waiter = { proceed: resolve, timer };
      waiting.add(waiter);
    });
  }

  /** The slot goes straight to the caller that has waited longest. */
  function releaseSlot(): void {
    const [next] = waiting;
    if (next === undefined) {
      used -= 1;
      return;
    }
    waiting.delete(next);
    clearTimeout(next.timer);
    next.proceed();
  }

  return async <T>(work: () => Promise<T>): Promise<T> => {
    await takeSlot();
    try {
      return await work();
    } finally {
      releaseSlot();
    }
  };
}
