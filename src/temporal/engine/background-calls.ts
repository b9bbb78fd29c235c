import { context } from '@opentelemetry/api';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import type { ProviderTestReport } from '../../catalogue/providers/provider-test-outcome.ts';
import type { WorkflowEngine } from '../../catalogue/tasks/workflow-engine.ts';
import type { Log } from '../../platform/log/log.ts';
import type { TaskToStop } from '../../tasks/end/cancel-task.ts';
import { owedDeliveryIds } from '../../tasks/end/task-end-event-and-delivery-ids.ts';
import { isUnavailable } from '../connection/connect.ts';

/** What the API has Temporal do; it reads progress in task-progress.ts. No answer to a client waits for a call, except for `testProvider`. */
export function createBackgroundEngineCalls(engine: WorkflowEngine, log: Log) {
  const background: Pick<BackgroundCalls<never>, 'drain'>[] = [];
  const later = <Input extends object>(send: (input: Input) => Promise<unknown>, onDeferred: string) => {
    const calls = createBackgroundCalls<Input>(send, (err, input) => {
      const fields: object = { err, ...input };
      log.warn(fields, onDeferred);
    });
    background.push(calls);
    return calls.call;
  };
  return {
    calls: {
      startTask: later(engine.startTask, 'workflow start deferred; reconcile will start it'),
      stopTask: later(
        (task: TaskToStop) => stopTask(engine, task),
        'workflow not cancelled yet; retried while Temporal is unavailable',
      ),
      retryTask: later(
        ({ taskId }: { readonly taskId: string }) => engine.retryNow(taskId),
        'task retry not sent yet; repeated while Temporal is unavailable',
      ),
      redeliver: later(engine.redeliver, 'callback redelivery deferred to reconcile'),
      testProvider: (provider: string): Promise<ProviderTestReport> =>
        engine.testProvider(provider).catch((err: unknown) => {
          log.warn({ provider, err }, 'provider not tested');
          return { outcome: 'no_worker' };
        }),
    },
    /** Waits until every call in the background was tried, for `limitMs` at most. */
    drain: async (limitMs: number): Promise<void> =>
      void (await Promise.all(background.map((calls) => calls.drain(limitMs)))),
  };
}

/** The workflow stops the generation and sends callback and event, which are started here for a task that has no workflow. */
async function stopTask(engine: WorkflowEngine, { taskId, accountId, ...owed }: TaskToStop): Promise<void> {
  if (await engine.cancelWorkflow(taskId)) return;
  for (const deliveryId of owedDeliveryIds(taskId, owed)) await engine.startDelivery({ deliveryId, accountId });
}

type BackgroundCalls<Input> = {
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
 * the database: it starts tasks and deliveries, and ends the workflows of cancelled tasks. Only a lost `retryTask` is not
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
