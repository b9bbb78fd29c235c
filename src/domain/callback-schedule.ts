const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Pauses before each attempt at a callback, counted from the end of the previous one (design, section 6): ten attempts in three days. */
export const callbackPausesMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** A receiver may ask for a longer pause with `Retry-After`, but for no longer than this. */
const maxRetryAfterMs = 24 * hourMs;

/** The pause before an attempt: what the schedule says, or what the receiver asked for when that is longer. */
export function callbackPauseMs(scheduledMs: number, retryAfterMs: number | undefined): number {
  return Math.max(scheduledMs, Math.min(retryAfterMs ?? 0, maxRetryAfterMs));
}
