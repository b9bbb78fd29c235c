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

/** The message of an error; those of its parts where it has none itself, as for a refused connection to several addresses. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system or PostgreSQL error, such as `ENOENT` or `57P03`; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

const maxDepth = 4;

/** An error for the log. Only these fields: PostgreSQL's errors carry the failing row in `detail`, and with it a prompt. */
export function describeError(error: unknown, depth = 1): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, 1000) };
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(error.cause !== undefined && depth < maxDepth && { cause: describeError(error.cause, depth + 1) }),
  };
}
