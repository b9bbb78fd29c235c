import type { Log } from '../log.ts';
import type { Role } from './settings.ts';

/** Everything is drained within this time; then the process ends all the same, for an orchestrator would kill it anyway. */
const drainLimitMs = 45_000;

/**
 * Keeps a role running until SIGTERM or SIGINT (or until `fatal` rejects), then drains it and ends the process: 0 after a
 * signal, 1 after a fatal error or when draining took too long. A second signal ends it at once. Whoever starts servers of
 * its own listens from the beginning and gives `signal`, for a signal during the start would leave them behind.
 */
export async function runUntilSignal(
  role: Role,
  fatal: Promise<never>,
  log: Log,
  signal = signalled(),
): Promise<never> {
  const failed = await Promise.race([signal, fatal]).then(
    () => false,
    (error: unknown) => {
      log.fatal({ err: error }, 'stopping because of a fatal error');
      return true;
    },
  );
  log.info('draining');
  const timer = setTimeout(() => {
    log.error('draining took too long');
    process.exit(1);
  }, drainLimitMs);
  await role.close();
  clearTimeout(timer);
  log.info('stopped');
  process.exit(failed ? 1 : 0);
}

const signals = ['SIGTERM', 'SIGINT'] as const;

/** Resolves at the first SIGTERM or SIGINT from now on; the next one ends the process at once. */
export async function signalled(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const name of signals) process.once(name, () => resolve());
  });
  for (const name of signals) process.once(name, () => process.exit(1));
}

/** A promise that a role rejects when it cannot go on. */
export function fatalErrors(): { readonly promise: Promise<never>; readonly reject: (error: unknown) => void } {
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<never>((_resolve, rejectPromise) => {
    reject = rejectPromise;
  });
  promise.catch(() => {});
  return { promise, reject: (error) => reject(error) };
}
