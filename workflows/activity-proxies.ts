import { ActivityCancellationType, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ChargedTaskForWorkflow } from '../activities/confirm-or-charge.ts';
import type { GenerationActivities, MainActivities } from '../activities/index.ts';
import { retryPace } from '../src/tasks/step-retry-pause.ts';
import { maxQueueMs, taskQueuesOf } from '../src/temporal/connection/queue-names-and-workflow-ids.ts';

// The activities of a task, one proxy per retry policy; that of its callback is in deliver-callback.ts. No task fails because of the number
// of its attempts, which a deploy would use up. An activity that cannot
// succeed throws a failure that is not retried.

const steadily = {
  initialInterval: retryPace.firstMs,
  backoffCoefficient: 2,
  maximumInterval: retryPace.maxMs,
} as const;

/** More than the database's own limits together (10 s to connect, 15 s a statement), also on a busy machine. */
const databaseStepTimeout = '1m';

type Bookkeeping = Pick<MainActivities, 'chargeCredits' | 'completeTask' | 'refundCredits'>;

/** A few statements on our own database, retried for as long as that is unavailable. */
const remoteBookkeeping = proxyActivities<Bookkeeping>({
  startToCloseTimeout: databaseStepTimeout,
  retry: steadily,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  summary: 'confirm the charge, or end the task',
});

const localBookkeeping = proxyLocalActivities<Bookkeeping>({
  startToCloseTimeout: '5s',
  retry: { maximumAttempts: 1 },
  summary: 'confirm the charge, or end the task',
});

/**
 * Runs the step as a local activity first, which adds one event to the history instead of six. If that fails, the step runs as an ordinary
 * activity, whose retries add no events. It also fails at once where a retry is forbidden.
 */
export const bookkeeping: Bookkeeping = {
  chargeCredits: (task) => locallyFirst((steps) => steps.chargeCredits(task)),
  completeTask: (task) => locallyFirst((steps) => steps.completeTask(task)),
  refundCredits: (task) => locallyFirst((steps) => steps.refundCredits(task)),
};

async function locallyFirst<T>(step: (steps: Bookkeeping) => Promise<T>): Promise<T> {
  try {
    return await step(localBookkeeping);
  } catch {
    return await step(remoteBookkeeping);
  }
}

/**
 * Converts, marks, checks and stores the video. It is already paid for, so this step waits for an unavailable store or worker, until the
 * task has waited for a day in all (`hasWaitedTooLong` of reconcile-tasks.ts).
 */
export const storing = proxyActivities<Pick<MainActivities, 'storeResult'>>({
  startToCloseTimeout: '15m',
  scheduleToCloseTimeout: '24h',
  heartbeatTimeout: '30s',
  retry: steadily,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary: 'copy, check and measure the video',
});

/** The activity enforces its own deadline; Temporal's later limit ends an activity that hangs. */
const graceMs = 60_000;

/**
 * Temporal queues a retry behind all waiting tasks, although the client of a started generation has already waited. An attempt that
 * was interrupted is therefore retried a few times with a higher priority; later retries queue up until the schedule-to-close limit.
 */
const generationAttempts = {
  first: { retry: { maximumAttempts: 1 } },
  prioritized: { retry: { ...steadily, maximumAttempts: 3 }, priorityKey: 1 },
  queued: { retry: steadily },
} as const;

/** Generation on our own machines has its own queue, which is fair between accounts, and is limited by the model's deadline. */
export function ownMachineGenerationOf(
  { accountId, model, deadlineMs }: ChargedTaskForWorkflow,
  attempt: keyof typeof generationAttempts,
) {
  const { retry, ...priority } = generationAttempts[attempt];
  return proxyActivities<GenerationActivities>({
    taskQueue: taskQueuesOf(workflowInfo().taskQueue).generation,
    startToCloseTimeout: deadlineMs + graceMs,
    scheduleToCloseTimeout: maxQueueMs + deadlineMs + graceMs,
    heartbeatTimeout: '30s',
    retry,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    priority: { fairnessKey: accountId, ...priority },
    summary: `generate with ${model}`,
  });
}

/**
 * Generation by upstreams. A task that waits for a slot ends its attempt and is retried later, so attempts need no priority. The deadline
 * limits the upstream's job. Fetching the video may take as long again, so the limit is twice the deadline.
 */
export function remoteGenerationOf({ accountId, model, deadlineMs }: ChargedTaskForWorkflow) {
  return proxyActivities<GenerationActivities>({
    taskQueue: taskQueuesOf(workflowInfo().taskQueue)['generation-remote'],
    startToCloseTimeout: 2 * deadlineMs + graceMs,
    scheduleToCloseTimeout: maxQueueMs + 2 * deadlineMs + graceMs,
    heartbeatTimeout: heartbeatTimeoutMs(deadlineMs),
    retry: steadily,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    priority: { fairnessKey: accountId },
    summary: `generate with ${model}`,
  });
}

/**
 * Heartbeat timeout, after which another worker takes over the jobs of one that died: one minute, two where a generation may take
 * half an hour. Each heartbeat is a write in Temporal, and thousands of generations wait for their upstreams at a time (bench/).
 */
function heartbeatTimeoutMs(deadlineMs: number): number {
  return Math.min(120_000, Math.max(60_000, deadlineMs / 15));
}
