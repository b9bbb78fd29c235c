import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../platform/log/log.ts';

/** The process exits after this time even if it is not drained, because an orchestrator would kill it anyway. */
export const processDrainMs = 45_000;

export type StopOptions = {
  /** The first signal. `npm start` listens from the start, so that a signal never leaves its servers running. */
  readonly signal?: Promise<StopSignal>;
  /** Time between SIGTERM, when `/readyz` becomes 503, and the closing of the listener. */
  readonly delayMs?: number;
};

/** Runs until SIGTERM or SIGINT, or until `fatal` rejects; then drains the service and ends the process: 0 after a signal, else 1. */
export async function drainAndExitOnSignal(
  part: DrainablePart,
  fatal: Promise<never>,
  log: Log,
  { signal = listenForStopSignal(), delayMs = 0 }: StopOptions = {},
): Promise<never> {
  const stopped = await Promise.race([signal, fatal]).catch((error: unknown) => {
    log.fatal({ err: error }, 'fatal error occurred; stopping');
    return undefined;
  });
  if (stopped === 'SIGTERM' && part.leave !== undefined && delayMs > 0) {
    part.leave();
    log.info({ delayMs }, 'shutdown announced; readyz returns 503, and the listener stays open until proxies notice');
    await delay(delayMs);
  }
  log.info('draining');
  const timer = setTimeout(() => {
    log.error('drain timed out');
    process.exit(1);
  }, processDrainMs);
  await part.close();
  clearTimeout(timer);
  log.info('stopped');
  process.exit(stopped === undefined ? 1 : 0);
}

const signals = ['SIGTERM', 'SIGINT'] as const;
type StopSignal = (typeof signals)[number];

/** One press of Ctrl-C may arrive twice: from the terminal, and forwarded by the program in between, such as npm. */
export const sameCtrlCPressMs = 500;

/** Resolves at the first SIGTERM or SIGINT from now on; the next one ends the process immediately. */
export function listenForStopSignal(): Promise<StopSignal> {
  let firstAt: number | undefined;
  return new Promise((resolve) => {
    for (const name of signals) {
      process.on(name, () => {
        if (firstAt !== undefined && Date.now() - firstAt >= sameCtrlCPressMs) process.exit(1);
        firstAt ??= Date.now();
        resolve(name);
      });
    }
  });
}

/** A promise that a service rejects when it cannot continue. */
export function createFatalPromise(): { readonly promise: Promise<never>; readonly reject: (error: unknown) => void } {
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<never>((_resolve, rejectPromise) => {
    reject = rejectPromise;
  });
  promise.catch(() => {});
  return { promise, reject: (error) => reject(error) };
}

/** Lines to a file on a full disk are lost. They must not end the process, which writes its log elsewhere. */
export function tolerateOutputErrors(): void {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
}

/** Prints the error and exits; a bug is printed with its stack. */
export function printErrorAndExit(error: unknown): never {
  const isExpected = error instanceof Error && error.name !== 'Error' && !(error instanceof TypeError);
  const message =
    error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${message}\n`);
  process.exit(error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1);
}
export type DrainablePart = {
  /** Makes `/readyz` return 503, so that proxies send requests elsewhere. */
  readonly leave?: () => void;
  /** Drains the part within a time limit; never rejects. */
  readonly close: () => Promise<void>;
};
