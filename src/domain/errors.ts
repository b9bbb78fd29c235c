import type { FailCode } from './task.ts';

/** What went wrong with one task: the only error whose words reach its client. Anything else is our own fault and is retried. */
export class TaskFault extends Error {
  override readonly name = 'TaskFault';
  readonly failCode: FailCode;
  /** True for a passing fault: nothing was decided, the same step may be tried again. */
  readonly retryable: boolean;

  /** `failMsg` is one sentence a client may read; put upstream detail into `options.cause`, for the log. */
  constructor(failCode: FailCode, failMsg: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(failMsg, { cause: options.cause });
    this.failCode = failCode;
    this.retryable = options.retryable ?? false;
  }
}

/** A fault of the installation. The message tells the person who starts the program what is wrong and what to do about it. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** Every fault of the configuration, a line each, naming the variable, or the field of a file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** The code of a system or PostgreSQL error, such as `ENOENT` or `57P03`; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
