import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { TaskError } from '../src/platform/errors.ts';
import { pauseAfter } from '../src/tasks/retry-pace.ts';
import { recordRetry } from '../src/tasks/tasks.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * Runs an attempt. Records when Temporal repeats one that failed, because operators cannot list Temporal's own timers. A task that
 * `waitsInQueue` for a slot has a row there, which names the time.
 */
export async function withRetryRecorded<T>(
  { db }: ActivityDeps,
  taskId: string,
  work: () => Promise<T>,
  { waitsInQueue = false } = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isInQueue = waitsInQueue && error instanceof ApplicationFailure && error.type === 'waiting';
    const pauseMs = isInQueue ? undefined : pauseOf(error);
    // The record is for readers only, so its failure must not replace that of the attempt.
    if (pauseMs !== undefined) await recordRetry(db, taskId, pauseMs).catch(() => undefined);
    throw error;
  }
}

/** Undefined for an end of the task. */
function pauseOf(error: unknown): number | undefined {
  if (error instanceof CancelledFailure) return undefined;
  if (error instanceof TaskError && !error.retryable) return undefined;
  const named: unknown = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
  return typeof named === 'number' ? named : pauseAfter(Context.current().info.attempt);
}
