import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { RunningPart } from './settings.ts';

/** Everything is drained within this time; then the process ends, because an orchestrator would kill it anyway. */
const drainLimitMs = 45_000;

export type Stopping = {
  /** The first signal. A program with servers of its own listens from the start, so that a signal never leaves them behind. */
  readonly signal?: Promise<StopSignal>;
  /** Between SIGTERM, from which on `/readyz` answers 503, and the closing of the listener. */
  readonly delayMs?: number;
};

/** Runs until SIGTERM or SIGINT, or until `fatal` rejects; then drains the service and ends the process: 0 after a signal, else 1. */
export async function runUntilSignal(
  part: RunningPart,
  fatal: Promise<never>,
  log: Log,
  { signal = signalled(), delayMs = 0 }: Stopping = {},
): Promise<never> {
  const stopped = await Promise.race([signal, fatal]).catch((error: unknown) => {
    log.fatal({ err: error }, 'fatal error occurred; stopping');
    return undefined;
  });
  if (stopped === 'SIGTERM' && part.leave !== undefined && delayMs > 0) {
    part.leave();
    log.info({ delayMs }, 'shutdown announced; readyz answers 503, the listener stays open for proxies to notice');
    await delay(delayMs);
  }
  log.info('draining');
  const timer = setTimeout(() => {
    log.error('drain timed out');
    process.exit(1);
  }, drainLimitMs);
  await part.close();
  clearTimeout(timer);
  log.info('stopped');
  process.exit(stopped === undefined ? 1 : 0);
}

const signals = ['SIGTERM', 'SIGINT'] as const;
type StopSignal = (typeof signals)[number];

/** Resolves at the first SIGTERM or SIGINT from now on; the next one ends the process immediately. */
export async function signalled(): Promise<StopSignal> {
  const first = await new Promise<StopSignal>((resolve) => {
    for (const name of signals) process.once(name, () => resolve(name));
  });
  for (const name of signals) process.once(name, () => process.exit(1));
  return first;
}

/** A promise that a service rejects when it cannot continue. */
export function fatalErrors(): { readonly promise: Promise<never>; readonly reject: (error: unknown) => void } {
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<never>((_resolve, rejectPromise) => {
    reject = rejectPromise;
  });
  promise.catch(() => {});
  return { promise, reject: (error) => reject(error) };
}

/** Ends the process with a sentence for the person who started it; the stack is shown only for a fault of ours. */
export function sayAndExit(error: unknown): never {
  const isExpected = error instanceof Error && error.name !== 'Error' && !(error instanceof TypeError);
  const message =
    error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${message}\n`);
  process.exit(error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1);
}
