import { ApplicationFailure } from '@temporalio/activity';
import { TaskFault } from '../src/domain/errors.ts';

/**
 * Translates a `TaskFault` into Temporal's words: the type is the failCode, the message what the client reads, and the
 * cause is for operators. Everything else passes unchanged and is retried by the activity's policy.
 */
export async function withActivityFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TaskFault)) throw error;
    throw ApplicationFailure.create({
      message: error.message,
      type: error.failCode,
      nonRetryable: !error.retryable,
      ...(error.cause instanceof Error && { cause: error.cause }),
    });
  }
}
