import { setTimeout as pause } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { errorCode, messageOf } from '../setup-errors-and-error-messages.ts';
import type { Log } from '../log/log.ts';

const firstPauseMs = 250;
const maxPauseMs = 10_000;

export type StartStepRetry = {
  /** The step for the log, such as `connect to Temporal`. */
  readonly step: string;
  readonly log: Log;
  /** Aborts the retries, and rejects without waiting for the current attempt. */
  readonly signal: AbortSignal;
  /** Receives a sentence for the terminal. */
  readonly onFirstFailure?: (message: string) => void;
};

/** Retries a step of the start until it succeeds, so that an outage does not end a process that has accepted tasks. */
export async function retryStartStep<T>(
  { step, log, signal, onFirstFailure }: StartStepRetry,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let attempts = 1, pauseMs = firstPauseMs; ; attempts++, pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    signal.throwIfAborted();
    try {
      const done = await pTimeout(attempt(), { signal, milliseconds: Number.POSITIVE_INFINITY });
      if (attempts > 1) log.info({ step, attempts }, 'start step succeeded');
      return done;
    } catch (error) {
      if (signal.aborted || isFinal(error)) throw error;
      if (attempts === 1) onFirstFailure?.(`Could not ${step} yet (${messageOf(error)}); trying again.`);
      log.warn({ err: error, step, attempts, pauseMs }, 'start step failed; it is retried');
    }
    await pause(pauseMs, undefined, { signal });
  }
}

/**
 * True for a bug, and for an error of PostgreSQL outside the classes 08 (connection), 53 (resources), 57 (operator) and 58 (disks). Codes
 * that begin with E are those of the system, such as EPIPE.
 */
function isFinal(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError) return true;
  const code = errorCode(error) ?? '';
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57|58|E)/.test(code);
}
