import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { TaskError } from '../src/catalogue/tasks/task-error.ts';
import { retryPauseAfter } from '../src/tasks/step-retry-pause.ts';
import { recordNextAttemptTime } from '../src/tasks/task-rows.ts';
import type { Database } from '../src/platform/database/database.ts';

/**
 * Turns a `TaskError` into an `ApplicationFailure`: its type is the failCode, its message what the client reads, and its
 * cause is for operators. Every other error passes unchanged and is retried by the activity's policy.
 */
export async function withTaskErrorsConverted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    throw ApplicationFailure.create({
      message: error.message,
      type: error.failCode,
      nonRetryable: !error.retryable,
      ...(error.cause instanceof Error && { cause: error.cause }),
    });
  }
}

/**
 * Does the same as `withTaskErrorsConverted` for a long step, and records when Temporal repeats a failed attempt, because operators cannot
 * list Temporal's own timers.
 */
export async function withErrorsConvertedAndRetrySaved<T>(
  db: Database,
  taskId: string,
  work: () => Promise<T>,
): Promise<T> {
  return await withTaskErrorsConverted(async () => {
    try {
      return await work();
    } catch (error) {
      const pauseMs = pauseOf(error);
      // The record is for readers only, so its failure must not replace that of the attempt.
      if (pauseMs !== undefined) await recordNextAttemptTime(db, taskId, pauseMs).catch(() => undefined);
      throw error;
    }
  });
}

/** Undefined for an end of the task. */
function pauseOf(error: unknown): number | undefined {
  if (error instanceof CancelledFailure) return undefined;
  if (error instanceof TaskError && !error.retryable) return undefined;
  const named: unknown = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
  return typeof named === 'number' ? named : retryPauseAfter(Context.current().info.attempt);
}
