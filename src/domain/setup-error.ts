/** A fault of the installation. The message tells the person who starts the program what is wrong and what to do about it. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** The code of a system or PostgreSQL error, such as `ENOENT` or `57P03`; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
