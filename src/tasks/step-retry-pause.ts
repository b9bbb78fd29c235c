/** The pauses between attempts at a step of a task, unless the failed attempt names another. In milliseconds, doubled each time. */
export const retryPace = { firstMs: 1_000, maxMs: 30_000 } as const;

/** The pause after the attempt with this number; the first one is 1. */
export function retryPauseAfter(attempt: number): number {
  return Math.min(retryPace.maxMs, retryPace.firstMs * 2 ** Math.max(0, attempt - 1));
}
