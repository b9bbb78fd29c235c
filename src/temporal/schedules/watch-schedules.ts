import type { Client } from '@temporalio/client';
import type { TaskQueues } from '../connection/queue-names-and-workflow-ids.ts';
import type { Log } from '../../platform/log/log.ts';
import type { MetricEventSink } from '../../platform/metrics/metric-event-sink.ts';
import { createMissingSchedule, type ScheduleName, scheduleNames } from './schedules.ts';
import { registerSearchAttributes } from '../connection/search-attributes.ts';
import { repeatUntilAborted } from '../../platform/timing/repeat.ts';

export type WatchSchedulesDeps = {
  readonly client: Client;
  readonly queues: TaskQueues;
  readonly log: Log;
  readonly events: MetricEventSink<ScheduleCheckEvent>;
  readonly pauseMs: number;
};

/**
 * Creates missing schedules and search attributes again. Temporal may lose its data while workers run, and without the schedule of
 * `reconcile` nothing would start or refund the tasks in the database.
 */
export async function watchSchedules(
  { client, queues, log, events, pauseMs }: WatchSchedulesDeps,
  signal: AbortSignal,
): Promise<void> {
  const check = async (schedule: ScheduleName, registered: Promise<unknown>) => {
    try {
      await registered;
      if (await createMissingSchedule(client, queues, schedule)) log.warn({ schedule }, 'schedule re-created');
      events.emit({ kind: 'schedule_checked', queue: queues.tasks, schedule, isPresent: true });
    } catch (error) {
      if (signal.aborted) return;
      events.emit({ kind: 'schedule_checked', queue: queues.tasks, schedule, isPresent: false });
      log.warn({ err: error, schedule }, 'schedule check failed');
    }
  };
  const checkAll = async () => {
    const registered = registerSearchAttributes(client);
    await Promise.all(scheduleNames.map((schedule) => check(schedule, registered)));
  };
  await checkAll();
  await repeatUntilAborted(pauseMs, signal, checkAll);
}
export type ScheduleCheckEvent = {
  readonly kind: 'schedule_checked';
  readonly queue: string;
  readonly schedule: string;
  readonly isPresent: boolean;
};
