import { ApplicationFailure } from '@temporalio/activity';
import { TaskError } from '../src/platform/errors.ts';

/**
 * Turns a `TaskError` into an `ApplicationFailure`: its type is the failCode, its message what the client reads, and its
 * cause is for operators. Every other error passes unchanged and is retried by the activity's policy.
 */
export async function withActivityFailures<T>(work: () => Promise<T>): Promise<T> {
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
