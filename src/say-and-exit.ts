/** Ends the process with a sentence for the person who started it; the stack is shown only for a fault of ours. */
export function sayAndExit(error: unknown): never {
  const isExpected = error instanceof Error && error.name !== 'Error' && !(error instanceof TypeError);
  const message =
    error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${message}\n`);
  process.exit(error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1);
}
