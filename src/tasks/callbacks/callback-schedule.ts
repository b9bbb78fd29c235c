import { hourMs, minuteMs, secondMs } from '../../platform/timing/milliseconds-per-unit.ts';

/**
 * Pauses before each attempt: a schedule has ten attempts in three days, or in nine if the receiver requests longer pauses. It ends early
 * with a response of 2xx or 410, or if the delivery is no longer pending. A pause begins at the end of the previous attempt, or, after a
 * network error, at the latest time at which that attempt could have ended.
 */
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

export const callbackTimeoutMs = 15 * secondMs;

/** The longest `Retry-After` that is obeyed. A scheduled pause may be longer by the timeout, after a network error. */
const maxRetryAfterMs = 24 * hourMs;

/** The scheduled pause, or the receiver's `Retry-After` if it is longer. */
export function pauseObeyingRetryAfter(scheduledMs: number, retryAfterMs: number | undefined): number {
  const maxMs = Math.max(maxRetryAfterMs, scheduledMs + callbackTimeoutMs);
  return Math.max(scheduledMs, Math.min(retryAfterMs ?? 0, maxMs));
}

const maxBusyPauseMs = 5 * minuteMs;

/** The pause of an attempt without a free slot: exponential backoff to five minutes, ±50 % by `random` (0 to 1). `turn` counts from 1. */
export function callbackSlotBackoffMs(turn: number, random: number): number {
  const doubledMs = Math.min(maxBusyPauseMs, secondMs * 2 ** Math.min(turn - 1, 30));
  return Math.round(doubledMs * (0.5 + random));
}
