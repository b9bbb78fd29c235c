export type ConnectionQueueLimits = {
  /** Waiting callers; further ones are refused. */
  readonly maxWaiting: number;
  readonly waitMs: number;
};

/**
 * A caller waits for its account's queue (half of `waitMs`), then for a connection, then for its statement (15 s). The sum is 30 s, which is
 * how long clients usually wait.
 */
export const defaultConnectionQueueLimits: ConnectionQueueLimits = { maxWaiting: 2_000, waitMs: 10_000 };
