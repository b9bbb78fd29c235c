import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptionsAction,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { TaskQueues } from '../domain/task-queues.ts';
import type { reconcile } from '../../workflows/index.ts';
import { isNotFound, within } from './connect.ts';

/** A Temporal server that was restarted takes up to seven seconds to answer for a schedule (measured). */
const limitMs = 30_000;

/**
 * Makes sure that `reconcile` runs every minute, never two at the same time, and runs it now: the caller has just started, perhaps
 * after a crash. Of an existing schedule only the action is renewed; its interval, and a pause, are left to operators.
 */
export async function ensureReconcileSchedule(client: Client, queues: TaskQueues): Promise<void> {
  if (await createReconcileSchedule(client, queues)) return;
  const handle = client.schedule.getHandle(reconcileScheduleId(queues));
  await within(client, limitMs, () =>
    handle.update(({ spec, policies, state }) => ({ spec, policies, state, action: reconcileAction(queues) })),
  );
  await triggerReconcile(client, queues);
}

/** Creates the schedule, which triggers a first run; returns false when it exists, and leaves it alone. */
export async function createReconcileSchedule(client: Client, queues: TaskQueues): Promise<boolean> {
  try {
    await within(client, limitMs, () =>
      client.schedule.create({
        scheduleId: reconcileScheduleId(queues),
        spec: { intervals: [{ every: '1m' }] },
        state: { triggerImmediately: true },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
        action: reconcileAction(queues),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

/** Undefined when the schedule does not exist. */
export async function readReconcileSchedule(
  client: Client,
  queues: TaskQueues,
): Promise<{ readonly id: string; readonly isPaused: boolean } | undefined> {
  const id = reconcileScheduleId(queues);
  try {
    const { state } = await within(client, limitMs, () => client.schedule.getHandle(id).describe());
    return { id, isPaused: state.paused };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError || isNotFound(error)) return undefined;
    throw error;
  }
}

function reconcileAction(queues: TaskQueues) {
  return {
    type: 'startWorkflow',
    workflowType: 'reconcile',
    workflowId: reconcileScheduleId(queues),
    taskQueue: queues.main,
    args: [],
    // The only workflow with a timeout, because a stuck run would prevent every later one; a lost run loses nothing. The
    // activities time out earlier (workflows/reconcile.ts).
    workflowRunTimeout: '8m',
    staticSummary: 'settle what a crash, an operator or time left undone',
  } satisfies ScheduleOptionsAction;
}

/** Runs `reconcile` now rather than within the minute; skipped when it is running. */
export async function triggerReconcile(client: Client, queues: TaskQueues): Promise<void> {
  await within(client, limitMs, () => client.schedule.getHandle(reconcileScheduleId(queues)).trigger());
}

/** Longer than a run may take. */
const runLimitMs = 9 * 60_000;

/**
 * Runs `reconcile` beside its schedule, also while that is paused, and answers what it did. Two runs at once settle everything once.
 * Rejects when no worker has ended it after nine minutes.
 */
export async function runReconcile(client: Client, queues: TaskQueues): Promise<Awaited<ReturnType<typeof reconcile>>> {
  const { workflowType, taskQueue, workflowRunTimeout, staticSummary } = reconcileAction(queues);
  return await within(client, runLimitMs, () =>
    client.workflow.execute<typeof reconcile>(workflowType, {
      workflowId: `${reconcileScheduleId(queues)}-on-demand`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue,
      workflowRunTimeout,
      staticSummary,
    }),
  );
}

function reconcileScheduleId(queues: TaskQueues): string {
  return `${queues.main}-reconcile`;
}
