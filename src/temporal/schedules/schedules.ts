import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptionsAction,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { housekeepingSteps } from './housekeeping-steps.ts';
import type { TaskQueues } from '../connection/queue-names-and-workflow-ids.ts';
import type { reconcile } from '../../../workflows/index.ts';
import { isNotFound, callWithin } from '../connection/connect.ts';

/** A restarted Temporal server takes up to seven seconds to respond about a schedule (measured). */
const limitMs = 30_000;

/**
 * The schedules of an installation. The runs of a schedule never overlap, so each run has a timeout: a stuck run would prevent every later
 * one. A lost run loses nothing. Activities time out earlier, except the audit, which may use the whole time of its run.
 */
const schedules = {
  reconcile: {
    workflow: 'reconcile',
    args: [],
    every: '1m',
    runTimeout: '8m',
    summary: 'repair unfinished tasks, callbacks and provider jobs',
  },
  housekeeping: {
    workflow: 'housekeeping',
    args: [housekeepingSteps],
    every: '10m',
    runTimeout: '2h',
    summary: 'delete expired data',
  },
  'reconcile-payments': {
    workflow: 'reconcilePayments',
    args: [],
    every: '1h',
    runTimeout: '55m',
    summary: "compare purchases of credits with the payment provider's records",
  },
  'audit-recent': {
    workflow: 'audit',
    args: ['recent'],
    every: '1h',
    runTimeout: '50m',
    summary: 'audit what changed in the ledger since the last audit',
  },
  'audit-full': {
    workflow: 'audit',
    args: ['full'],
    every: '1d',
    runTimeout: '20h',
    summary: 'audit the whole ledger',
  },
} as const;

export type ScheduleName = keyof typeof schedules;
export const scheduleNames = Object.keys(schedules) as readonly ScheduleName[];

/**
 * Creates missing schedules, and runs `reconcile` now: the caller has just started, possibly after a crash. Of an existing schedule only
 * the action is renewed; its interval, and a pause, are left to operators.
 */
export async function ensureSchedules(client: Client, queues: TaskQueues): Promise<void> {
  for (const name of scheduleNames) {
    if (await createMissingSchedule(client, queues, name)) continue;
    const handle = client.schedule.getHandle(scheduleId(queues, name));
    await callWithin(client, limitMs, () =>
      handle.update(({ spec, policies, state }) => ({ spec, policies, state, action: actionOf(queues, name) })),
    );
    if (name === 'reconcile') await triggerSchedule(client, queues, name);
  }
}

/** Creates a schedule and triggers a first run; returns false when it exists, and leaves it alone. */
export async function createMissingSchedule(client: Client, queues: TaskQueues, name: ScheduleName): Promise<boolean> {
  const { every } = schedules[name];
  try {
    await callWithin(client, limitMs, () =>
      client.schedule.create({
        scheduleId: scheduleId(queues, name),
        spec: { intervals: [{ every }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: every },
        action: actionOf(queues, name),
      }),
    );
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
  // A run that the creation itself triggers would not count as running, and the next one would begin beside it.
  await triggerSchedule(client, queues, name);
  return true;
}

export async function readScheduleState(client: Client, queues: TaskQueues, name: ScheduleName) {
  const id = scheduleId(queues, name);
  try {
    const { state } = await callWithin(client, limitMs, () => client.schedule.getHandle(id).describe());
    return { id, state: state.paused ? 'paused' : 'active' } as const;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError || isNotFound(error)) return { id, state: 'missing' } as const;
    throw error;
  }
}

/** Starts a run now; skipped when one is running. */
export async function triggerSchedule(client: Client, queues: TaskQueues, name: ScheduleName): Promise<void> {
  // Without a policy of its own, a trigger runs beside others.
  const { SKIP } = ScheduleOverlapPolicy;
  await callWithin(client, limitMs, () => client.schedule.getHandle(scheduleId(queues, name)).trigger(SKIP));
}

/** Longer than a run may take. */
const runLimitMs = 9 * 60_000;

/**
 * Runs `reconcile` beside its schedule, also while that is paused, and returns its result. Concurrent runs do everything
 * once. Rejects if no worker has completed it after nine minutes.
 */
export async function runReconcile(client: Client, queues: TaskQueues): Promise<Awaited<ReturnType<typeof reconcile>>> {
  const { workflowType, taskQueue, workflowRunTimeout, staticSummary } = actionOf(queues, 'reconcile');
  return await callWithin(client, runLimitMs, () =>
    client.workflow.execute<typeof reconcile>(workflowType, {
      workflowId: `${scheduleId(queues, 'reconcile')}-on-demand`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue,
      workflowRunTimeout,
      staticSummary,
    }),
  );
}

function actionOf(queues: TaskQueues, name: ScheduleName) {
  const { workflow, args, runTimeout, summary } = schedules[name];
  return {
    type: 'startWorkflow',
    workflowType: workflow,
    workflowId: scheduleId(queues, name),
    taskQueue: queues.tasks,
    args: [...args],
    workflowRunTimeout: runTimeout,
    staticSummary: summary,
  } satisfies ScheduleOptionsAction;
}

function scheduleId({ tasks }: TaskQueues, name: ScheduleName): string {
  return `${tasks}-${name}`;
}
