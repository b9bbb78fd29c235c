import type { FailCode, TaskFailure } from './task.ts';

/** Ends a task: the only error whose message reaches its client. Other errors are bugs or outages and are retried. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
  readonly failCode: FailCode;
  /** True if the same step may succeed later. */
  readonly retryable: boolean;

  /** `failMsg` is shown to the client; upstream detail belongs in `options.cause`, which is logged. */
  constructor(failCode: FailCode, failMsg: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(failMsg, { cause: options.cause });
    this.failCode = failCode;
    this.retryable = options.retryable ?? false;
  }
}

/** Returns the failure of an invalid task, such as one with an invalid image; undefined for any other error. */
export function finalTaskFailureOf(error: unknown): TaskFailure | undefined {
  if (!(error instanceof TaskError) || error.retryable) return undefined;
  return { failCode: error.failCode, failMsg: error.message };
}
