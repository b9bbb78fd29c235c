import type { Client } from '@temporalio/client';
import type { TaskQueues } from '../domain/task-queues.ts';
import type { Log } from '../log.ts';
import type { Events } from '../metrics/counters.ts';
import { createReconcileSchedule } from '../temporal/reconcile-schedule.ts';
import { registerSearchAttributes } from '../temporal/search-attributes.ts';
import { repeat } from './repeat.ts';

export type WatchedSchedule = {
  readonly client: Client;
  readonly queues: TaskQueues;
  readonly log: Log;
  readonly events: Events;
  readonly pauseMs: number;
};

/**
 * Creates the schedule of `reconcile` and the search attributes again when they are missing. Temporal may lose its data while workers
 * run, and without the schedule nothing would start or refund the tasks that the database still has.
 */
export async function watchSchedule(
  { client, queues, log, events, pauseMs }: WatchedSchedule,
  signal: AbortSignal,
): Promise<void> {
  const report = (isPresent: boolean) => events.emit({ kind: 'schedule_checked', queue: queues.main, isPresent });
  const check = async () => {
    try {
      await registerSearchAttributes(client);
      if (await createReconcileSchedule(client, queues)) log.warn('reconcile schedule re-created');
      report(true);
    } catch (error) {
      if (signal.aborted) return;
      report(false);
      log.warn({ err: error }, 'reconcile schedule check failed');
    }
  };
  await check();
  await repeat(pauseMs, signal, check);
}
