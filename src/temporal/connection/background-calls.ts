import { context } from '@opentelemetry/api';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import { isUnavailable } from './connect.ts';

export type BackgroundCalls<Input> = {
  /** Takes the input of a call and returns immediately; never throws. */
  readonly call: (input: Input) => void;
  /** Waits until every call was tried, for `limitMs` at most. */
  readonly drain: (limitMs: number) => Promise<void>;
};

const concurrency = 8;
/** The maximum of calls that wait in memory. Further ones are dropped. */
const maxWaiting = 10_000;
/** Between two attempts while Temporal is unavailable. */
const defaultLimits = { probePauseMs: 500 };

/**
 * Makes calls to Temporal that no answer to a client waits for, at most eight at the same time. While Temporal is unavailable, these eight are
 * retried, and later ones wait behind them. A call that Temporal rejects is not retried. `reconcile` replaces calls that are lost here from
 * the database: it starts tasks and deliveries, and ends the workflows of cancelled tasks. Only a lost `endRetryPauses` is not
 * replaced.
 */
export function createBackgroundCalls<Input>(
  send: (input: Input) => Promise<unknown>,
  onError: (error: unknown, input: Input) => void,
  { probePauseMs } = defaultLimits,
): BackgroundCalls<Input> {
  const limit = pLimit(concurrency);
  let isDraining = false;
  let isTemporalDown = false;

  async function sendOrRetry(input: Input): Promise<void> {
    for (let hasFailed = false; ; hasFailed = true) {
      // Thousands of calls may wait when the process ends during an outage.
      if (isDraining && isTemporalDown) return;
      try {
        await send(input);
        isTemporalDown = false;
        return;
      } catch (error) {
        if (!hasFailed) onError(error, input);
        isTemporalDown = isUnavailable(error);
        if (isDraining || !isTemporalDown) return;
        await delay(probePauseMs);
      }
    }
  }

  const pending = new Set<Promise<void>>();
  return {
    call: (input) => {
      if (pending.size >= concurrency + maxWaiting) return;
      // A call belongs to the trace of its own request.
      const bound = context.bind(context.active(), () => sendOrRetry(input));
      const sent = limit(bound).finally(() => pending.delete(sent));
      pending.add(sent);
    },
    drain: async (limitMs) => {
      isDraining = true;
      await pTimeout(Promise.all(pending), { milliseconds: limitMs, fallback: () => undefined });
    },
  };
}
