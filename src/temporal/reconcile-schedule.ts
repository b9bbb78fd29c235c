import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { TaskQueues } from '../domain/task-queues.ts';
import { within } from './connect.ts';

const limitMs = 10_000;

/**
 * Makes sure that `reconcile` runs every minute, never two at once, and now: whoever calls this has just come up, perhaps
 * after a crash. An existing schedule is left as operators have set it.
 */
export async function ensureReconcileSchedule(client: Client, queues: TaskQueues): Promise<void> {
  try {
    await within(client, limitMs, () =>
      client.schedule.create({
        scheduleId: reconcileScheduleId(queues),
        spec: { intervals: [{ every: '1m' }] },
        state: { triggerImmediately: true },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
        action: {
          type: 'startWorkflow',
          workflowType: 'reconcile',
          workflowId: reconcileScheduleId(queues),
          taskQueue: queues.main,
          args: [],
          staticSummary: 'settle what a crash, an operator or time left undone',
        },
      }),
    );
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await triggerReconcile(client, queues);
  }
}

/** Runs `reconcile` now rather than within the minute; skipped when it is running. */
export async function triggerReconcile(client: Client, queues: TaskQueues): Promise<void> {
  await within(client, limitMs, () => client.schedule.getHandle(reconcileScheduleId(queues)).trigger());
}

function reconcileScheduleId(queues: TaskQueues): string {
  return `${queues.main}-reconcile`;
}
