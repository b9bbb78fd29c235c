/** The installation cannot start. The message states the problem and its fix. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** All errors of the configuration, one line each, with the variable or the field of a file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** An AggregateError, as of a connection refused by several addresses, has messages only in its parts. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system or PostgreSQL error, such as `ENOENT` or `57P03`. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True for an error of the operating system, such as EIO of a disk. Other errors have a code at most. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall !== undefined;
}

const maxDepth = 4;

/** Logs only these fields, because `detail` of a PostgreSQL error holds the failing row, with its prompt. */
export function describeErrorForLog(error: unknown, depth = 1): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, 1000) };
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(error.cause !== undefined && depth < maxDepth && { cause: describeErrorForLog(error.cause, depth + 1) }),
  };
}
