import { hourMs, minuteMs, secondMs } from './duration.ts';

/** Pauses before each attempt at a callback, counted from the end of the previous one: ten attempts in three days. */
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

/** So long an attempt at a callback may take. */
export const callbackTimeoutMs = 15 * secondMs;

/** A receiver may ask for a longer pause with `Retry-After`, but for no longer than this. */
const maxRetryAfterMs = 24 * hourMs;

/** The pause before an attempt: what the schedule says, or what the attempt before it asks for when that is longer. */
export function callbackPauseMs(scheduledMs: number, retryAfterMs: number | undefined): number {
  const maxMs = Math.max(maxRetryAfterMs, scheduledMs + callbackTimeoutMs);
  return Math.max(scheduledMs, Math.min(retryAfterMs ?? 0, maxMs));
}

const maxBusyPauseMs = 5 * minuteMs;

/**
 * How long an attempt for which we have no free slot steps back: a second, then twice as long each time up to five
 * minutes, give or take half by `random` (0 to 1), so that many callers do not return together. `turn` counts from 1.
 */
export function callbackBusyPauseMs(turn: number, random: number): number {
  const doubledMs = Math.min(maxBusyPauseMs, secondMs * 2 ** Math.min(turn - 1, 30));
  return Math.round(doubledMs * (0.5 + random));
}

/** No task has this id; test callbacks are about it. */
export const noTaskId = '00000000-0000-0000-0000-000000000000';

/** The `webhook-id` of a task's callback: the same over all attempts and redeliveries, so that a receiver can drop repeats. */
export function webhookId(taskId: string): string {
  return `msg_${taskId.replaceAll('-', '')}`;
}

/** After a rotation both callback secrets sign for a day, unless chosen otherwise; for a month at most. */
export const defaultOverlapSeconds = 24 * 60 * 60;
export const maxOverlapSeconds = 30 * 24 * 60 * 60;
