import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';

const common = {
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

/** Clients wait for the start of a task, its refund and its callback, so these steps are retried within the run. */
const { reconcileTasks, startOwedCallbacks } = proxyActivities<MainActivities>({
  ...common,
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '6m',
  retry: { initialInterval: '1s', maximumInterval: '10s', maximumAttempts: 5 },
});

/** These steps are not retried: a retry would delay the next run, which repeats them a minute later anyway. */
const { settleProviderJobs, startClosings } = proxyActivities<MainActivities>({
  ...common,
  startToCloseTimeout: '90s',
  scheduleToCloseTimeout: '2m',
  retry: { maximumAttempts: 1 },
});

/**
 * Runs every minute, and repairs what a crash, an operator or an expired time limit has left unfinished. The steps run concurrently. If one
 * fails, the others still complete, and then the run fails.
 */
export async function reconcile(): Promise<{ started: number; refunded: number; callbacks: number }> {
  const steps = [reconcileTasks(), startOwedCallbacks(), settleProviderJobs(), startClosings()] as const;
  await Promise.allSettled(steps);
  const [tasks, callbacks] = await Promise.all(steps);
  return { started: tasks.started, refunded: tasks.refunded, callbacks: callbacks.started };
}
